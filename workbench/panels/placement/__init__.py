"""Where to place ranks on a network."""
