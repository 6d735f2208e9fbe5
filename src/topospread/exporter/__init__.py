"""How pods are spread, as figures that follow a live cluster event by event. Nothing is placed and nothing written."""
