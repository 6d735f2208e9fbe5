"""A language server: what `topospread lint` finds, while a manifest is typed in an editor; needs the extra `lsp`."""
