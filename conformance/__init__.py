"""Programs that judge topospread beside Kubernetes' own code; no part of the installed package."""
