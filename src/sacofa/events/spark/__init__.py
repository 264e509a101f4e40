"""Logs on a Spark cluster: counted there, and left there where variants are too many."""
