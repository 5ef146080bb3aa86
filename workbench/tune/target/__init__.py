"""The target of a run: the number that is minimised or maximised."""
