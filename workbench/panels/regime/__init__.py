"""Message regimes: two models bolted together at a size."""
