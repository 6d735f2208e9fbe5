"""Drawing answers. `pages` turns an answer into blocks; the other modules turn blocks into text, Markdown, HTML or SVG.

No output format knows a command, and no page knows a width.
"""
