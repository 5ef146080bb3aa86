"""Figures of topologies: map, metrics, hops, resilience, traffic, collectives."""
