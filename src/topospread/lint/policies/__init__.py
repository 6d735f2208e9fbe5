"""Lint rules as admission policies: their CEL expressions, and the rules that CEL cannot express."""
