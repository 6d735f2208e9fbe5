"""Admission of new objects by the API server: defaults, dropped fields, merged label keys, quotas, policies."""
