"""Kubernetes objects as topospread reads them: the fields it uses, their types, rules and words. No I/O."""
