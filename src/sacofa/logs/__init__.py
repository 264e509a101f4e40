"""Read event logs from files and frames, and write them."""
