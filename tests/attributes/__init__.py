"""Attributes of releases."""
