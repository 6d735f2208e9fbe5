"""Scheduling plugins, one a file, named as Kubernetes names them; `registry` lists them. No I/O."""
