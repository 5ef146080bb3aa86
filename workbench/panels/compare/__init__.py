"""The comparison of topologies: up to four networks side by side under one load."""
