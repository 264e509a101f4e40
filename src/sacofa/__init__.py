"""Release event logs under differential privacy and keep them useful for process mining."""
