"""The case of words in raw UTF-8, and a copy of the text with other words in their places."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``blocks.py`` is the typed door to it

from __future__ import annotations

from evenrank.evidence.scan.vectors import compiled

LOWER, TITLE, UPPER, OTHER = range(4)


@compiled(boundscheck=False)
def find_cases(text, starts, ends, cases):
    """How each word is written; OTHER if it is mixed, or not ASCII."""
    for row in range(len(starts)):
        small, large, other = 0, 0, 0
        for place in range(starts[row], ends[row]):
            byte = text[place]
            other += byte >= 0x80
            large += 65 <= byte <= 90
            small += 97 <= byte <= 122
        if other > 0:
            cases[row] = OTHER
        elif large == 0:
            cases[row] = LOWER
        elif small == 0 and ends[row] - starts[row] > 1:
            cases[row] = UPPER
        elif large == 1 and 65 <= text[starts[row]] <= 90:
            cases[row] = TITLE
        else:
            cases[row] = OTHER


@compiled(boundscheck=False)
def patch(text, begin, end, starts, ends, codes, offsets, spellings, out):
    """``text[begin:end]`` to ``out``, with spelling ``codes[i]`` in the place of ``starts[i]:ends[i]``."""
    done, at = begin, 0
    for row in range(len(starts)):
        size = starts[row] - done
        out[at : at + size] = text[done : starts[row]]
        at += size
        for place in range(offsets[codes[row]], offsets[codes[row] + 1]):
            out[at] = spellings[place]
            at += 1
        done = ends[row]
    out[at : at + end - done] = text[done:end]
