"""Variability in panels: who slowed a run down, and how long the next steps take."""
