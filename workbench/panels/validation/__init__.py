"""Predicted run times beside those of programs that ran under added latency."""
