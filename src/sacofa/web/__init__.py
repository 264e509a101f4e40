"""The web app: upload a log, choose ε, read the report. It serves one machine by default.

This module imports nothing, so that worker processes load only necessary modules.
"""
