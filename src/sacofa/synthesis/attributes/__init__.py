"""Attributes of a release: which questions are asked, and what is made of the noisy answers."""
