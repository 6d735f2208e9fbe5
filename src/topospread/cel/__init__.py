"""CEL as Kubernetes' admission policies use it: parse, evaluate within a budget, and leave open what is not known."""
