"""A generator of runs whose slow-downs have causes that are known."""
