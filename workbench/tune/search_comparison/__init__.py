"""The comparison of searches over recorded spaces: which finds how much in what time."""
