"""The page of each answer: it picks and words what is shown, and computes nothing. A module each."""
