"""How long the next steps take: windows, models, and how far their errors can be trusted."""
