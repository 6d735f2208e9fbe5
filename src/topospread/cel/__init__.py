"""CEL for Kubernetes' admission policies: parse, evaluate within a budget, and keep unknown values unknown."""
