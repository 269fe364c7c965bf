"""Write ``choosing.md``, the way from a question to a measure: ``python docs/build_choosing.py``.

The tree is data in ``evenrank.measures.choosing``, which commands use, too; a test says when the page is
stale.
"""

from __future__ import annotations

from pathlib import Path

from evenrank.measures.choosing import TREE, Leaf

PAGE = Path(__file__).parent / "choosing.md"
DEPTH = 10


def page() -> str:
    lines = [
        "# Choosing a measure",
        "",
        "There are more than sixty measures, and most questions need one. First look for what you know about",
        "the documents, then for your question. A star marks what commands take where no measure is named.",
        "Each page says when to prefer a neighbour. `evenrank measures WORD` finds measures by the words of",
        "a question.",
        "",
    ]
    for known in TREE:
        lines += [f"## You have {known.evidence} ({known.given})", ""]
        lines += ["| question | measure | why this one |", "|---|---|---|"]
        lines += [_row(choice) for choice in known.choices]
        lines.append("")
    return "\n".join(lines)


def _row(choice: Leaf) -> str:
    name = choice.measure.partition("(")[0]
    written = choice.measure + (f"@{DEPTH}" if choice.cutoff else "")
    star = " \\*" if choice.default else ""
    return f"| {choice.question} | [`{written}`](measures/{name}.md){star} | {choice.because} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
