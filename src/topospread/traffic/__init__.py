"""The cost of spread: cross-zone traffic of Services, and uneven load of their endpoints."""
