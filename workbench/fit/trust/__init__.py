"""How far a fit can be trusted: what the data show, what else would do, what holds beyond them."""
