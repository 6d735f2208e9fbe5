"""The command line: options, output and exit codes. Decisions are made in the packages below it."""
