"""Random parts of a scheduling case, one kind of object a module; conformance.generate puts them together."""
