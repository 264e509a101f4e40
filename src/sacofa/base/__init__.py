"""Building blocks that know nothing of logs: files, locks, temporary folders, distances."""
