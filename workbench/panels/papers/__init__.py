"""The index of the papers: a table of all rows, and ours of the chosen one."""
