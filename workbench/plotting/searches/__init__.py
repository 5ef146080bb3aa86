"""Figures of the comparison of search methods on recorded spaces."""
