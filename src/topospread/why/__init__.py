"""Explanations why a pod is pending, or where it is, as data. `why.explain` makes one.

Nothing is printed here, and no rule of scheduling is decided here.
"""
