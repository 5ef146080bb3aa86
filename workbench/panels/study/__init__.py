"""The fitting study: its errors by cell, and the fit of each cell."""
