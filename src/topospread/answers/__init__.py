"""The answers of the commands, one module each. ``-o json``, the Python API and the pages share them."""
