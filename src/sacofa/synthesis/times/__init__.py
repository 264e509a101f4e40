"""Times for released cases, made of noisy answers about time and of nothing else."""
