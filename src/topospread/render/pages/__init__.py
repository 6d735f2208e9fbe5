"""One page a command: a page picks the fields of an answer and computes nothing."""
