"""Lint rules for manifests, and findings with their place."""
