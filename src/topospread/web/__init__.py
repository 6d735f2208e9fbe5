"""A page for looking at a cluster and for trying by hand: what others compute, over HTTP. It decides nothing itself."""
