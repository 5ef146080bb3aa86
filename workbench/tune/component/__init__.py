"""The tuned component, its parameters, and how their values reach the program."""
