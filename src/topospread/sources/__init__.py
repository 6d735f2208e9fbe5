"""Sources of clusters: files, folders, standard input and synthetic clusters → an inventory of typed objects."""
