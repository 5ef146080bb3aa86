"""The tuning study: searches compared in figures."""
