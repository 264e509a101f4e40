"""Mechanisms turn secret counts into private ones: the only layer where counts and noise meet."""
