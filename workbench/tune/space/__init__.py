"""What may be tried: the values of each parameter, and the rules between them."""
