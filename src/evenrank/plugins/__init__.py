"""evenrank's measures inside other tools. Nothing here is loaded unless it is imported by name."""
