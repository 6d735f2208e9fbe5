"""The command line: options in, reports out, exit codes. What is decided and computed stands below."""
