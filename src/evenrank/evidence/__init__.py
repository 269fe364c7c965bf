"""From runs and sources of evidence to arrays aligned to ranks."""
