"""What is tuned: a component, its parameters, and how their values reach the program."""
