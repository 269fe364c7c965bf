"""From words to terms: the longest term that begins at a word counts, and the search goes on behind it."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``counter.py`` is the typed door to it

from __future__ import annotations

from evenrank.evidence.scan.tables import FIRST, GROUP, SIZE, TERM
from evenrank.evidence.scan.vectors import compiled


@compiled(inline="always")
def _follows(words, at, step, word):
    """Whether ``step`` tokens behind the word in row ``at``, in the same document, stands ``word``."""
    then = at + step
    return words[then, 2] == word and words[then, 1] == words[at, 1] + step and words[then, 0] == words[at, 0]


@compiled(boundscheck=False)
def count_terms(words, begins, phrases, first, counts, found, found_ends):
    """Count the terms that the ``words`` of ``find_words`` make up, into ``counts`` (G, D), where document 0
    is that of column ``first``.

    If ``found`` has room for as many, it gets the terms in their order and the row of the first word of each,
    those of document ``d`` from ``found_ends[d - 1]`` to ``found_ends[d]``.
    """
    at, finds = 0, 0
    while at < len(words):
        document, word = words[at, 0], words[at, 2]
        used = 1
        for row in range(begins[word], begins[word + 1]):  # the longest first
            size = phrases[row, SIZE]
            same = at + size <= len(words)
            step = 1
            while same and step < size:
                same = _follows(words, at, step, phrases[row, FIRST + step])
                step += 1
            if same:
                used = size
                counts[phrases[row, GROUP], first + document] += 1
                if found.size:
                    found[finds, 0] = phrases[row, TERM]
                    found[finds, 1] = at
                    finds += 1
                    found_ends[document] = finds
                break
        at += used
    if found.size:
        for document in range(1, len(found_ends)):
            found_ends[document] = max(found_ends[document], found_ends[document - 1])
