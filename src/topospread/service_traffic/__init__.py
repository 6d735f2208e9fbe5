"""The cost of spread: the share of each Service's traffic that crosses zones, and uneven load of its endpoints."""
