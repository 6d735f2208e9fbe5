"""Pods as kube-controller-manager's controllers create and remove them, for kube-scheduler to place."""
