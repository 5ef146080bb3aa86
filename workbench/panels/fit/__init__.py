"""The fit of a network model to a machine, and the model explored by hand."""
