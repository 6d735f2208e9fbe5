"""A web page that shows a cluster and simulates changes to it. The other packages compute the answers; this one serves
them over HTTP."""
