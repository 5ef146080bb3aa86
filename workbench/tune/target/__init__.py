"""What a run gives: the number that is made small or large."""
