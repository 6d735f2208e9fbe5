"""Formats of answers: blocks are drawn as text, Markdown, HTML or SVG. No format knows a command."""
