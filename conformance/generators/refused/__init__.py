"""Random pods, right and wrong: every part of a pod may break a rule of the API, or not even decode."""
