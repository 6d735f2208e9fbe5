"""A change of manifests before it is merged: two states of them held against one cluster."""
