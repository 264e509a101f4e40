"""The only place where noise is drawn, and the record of every look at the log."""
