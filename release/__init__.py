"""What is checked before a release, and what a release is made of; no part of what is installed."""
