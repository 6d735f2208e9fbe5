"""Lint: rules, and findings with their place, for manifests that do not do what their author means."""
