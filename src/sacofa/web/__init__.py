"""The web app: drop a log, choose a price, read the report. For one machine, safe by default.

Nothing is imported here, so that worker processes load only what they need.
"""
