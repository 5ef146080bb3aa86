"""How sure a simulation is: chains, a posterior with its verdict, predictions, coverage."""
