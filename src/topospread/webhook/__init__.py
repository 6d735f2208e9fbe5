"""Admission: the linter's word on objects that are created, and default constraints; it writes nothing."""
