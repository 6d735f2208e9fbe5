"""Kubernetes objects as topospread reads them: fields, types, validation and its messages. No I/O."""
