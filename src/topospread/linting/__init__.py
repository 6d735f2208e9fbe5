"""Whether manifests say what their author means: rules, and findings with their place; prints and changes nothing."""
