"""Review a change of manifests before it is merged: compare both states on one cluster."""
