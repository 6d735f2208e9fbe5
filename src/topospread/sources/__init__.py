"""Where clusters come from: files, folders, standard input and made-up clusters → an inventory of typed objects."""
