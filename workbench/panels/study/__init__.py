"""The fitting study: its errors by cell, and the fit behind each."""
