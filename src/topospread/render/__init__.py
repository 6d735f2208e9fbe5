"""Draw answers as text, Markdown, HTML or SVG, from blocks that are independent of the command."""
