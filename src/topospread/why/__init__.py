"""Explain as data why a pod is pending or on its node: `why.explain`. `render.pages.why` prints the explanation."""
