"""A language server that shows the findings of `topospread lint` in an editor. It needs the extra `lsp`."""
