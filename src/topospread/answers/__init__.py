"""The answers of the commands: what ``-o json``, Python and the pages share. A module each, named like the command."""
