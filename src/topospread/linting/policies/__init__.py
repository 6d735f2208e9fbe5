"""Lint rules as policies that the API server asks by itself: their CEL, and what is not said in it; lints nothing."""
