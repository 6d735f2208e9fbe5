"""From what was read to what kube-scheduler is given: pods as the controllers and the API server make them."""
