"""Guarantees on the availability of workloads, for every order in which pods may be placed and for any scores."""
