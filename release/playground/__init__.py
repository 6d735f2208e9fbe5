"""The playground of the docs site: what is put together for it, and what runs in it."""
