"""Figures of collectives that are predicted from messages between two nodes."""
