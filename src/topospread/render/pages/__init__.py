"""One module for each answer's page."""
