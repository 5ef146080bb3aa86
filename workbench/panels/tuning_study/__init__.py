"""Which way to search: the figures of the tuning study."""
