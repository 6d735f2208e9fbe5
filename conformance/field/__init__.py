"""The same situations put to kube-scheduler and to others that judge topology spread: who answers otherwise."""
