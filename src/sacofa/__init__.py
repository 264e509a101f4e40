"""Release event logs under differential privacy and keep them useful for process mining."""

__version__ = "0.1.0"
