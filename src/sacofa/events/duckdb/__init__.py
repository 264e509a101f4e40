"""Tables of events, counted by DuckDB: the source of rows, their order, and partitions of cases."""
