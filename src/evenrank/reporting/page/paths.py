"""File names without the folders that they lie in: a report is sent to people whom those do not concern."""

from __future__ import annotations

import re

# a folder begins with a slash that stands behind no word, address or other slash, or with a drive
_FOLDERS = re.compile(r"(?<![\w./:~])(?:~?/|[A-Za-z]:[\\/])(?:[^\s/\\'\",;:()]+[\\/])*(?=[^\s/\\])")


def without_folders(text: str) -> str:
    r"""The text with the name of each file alone where an absolute path stood.

    >>> without_folders("/home/ann/runs/bm25.trec: read, see https://example.org/a/b and data/x.tsv")
    'bm25.trec: read, see https://example.org/a/b and data/x.tsv'
    >>> [without_folders(text) for text in (r"C:\Users\ann\bm25.trec", "won / tied / lost", "1/2")]
    ['bm25.trec', 'won / tied / lost', '1/2']
    """
    return _FOLDERS.sub("", text)
