"""Post-processing: what is made of noisy answers. Nothing here can reach confidential data."""
