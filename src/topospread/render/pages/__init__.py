"""One module for each answer's page, which chooses and words what is shown."""
