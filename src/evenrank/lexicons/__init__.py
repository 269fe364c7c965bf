"""Lexicons that come with the package, as data; README.md beside this file says how they were made."""
