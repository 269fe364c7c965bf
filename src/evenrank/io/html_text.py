"""The text that a reader of a web page sees, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe"})
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")
# tags that stand inside a line: a word may go on behind them
_INSIDE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
})  # fmt: skip


def html_text(page: str) -> str:
    """The text of a page, a line for each block, without scripts and styles.

    >>> html_text("<title>Cats</title><p>A <b>c</b>at &amp; a dog.<script>x()</script><p>End")
    'Cats\\nA cat & a dog.\\nEnd'
    """
    try:
        pieces = _pieces(page)
    except AssertionError:  # so the parser answers a marked section that it does not know
        pieces = _pieces(page.replace("<![", " "))
    return _LINES.sub("\n", _BLANKS.sub(" ", "".join(pieces))).strip()


def _pieces(page: str) -> list[str]:
    parser = _Text()
    parser.feed(page)
    parser.close()
    return parser.pieces


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden is None and tag in _HIDDEN:
            self._hidden = tag
        self._border(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._border(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = None
        self._border(tag)

    def handle_data(self, data: str) -> None:
        if self._hidden is None:
            self.pieces.append(data.replace("\n", " "))

    def _border(self, tag: str) -> None:
        if tag not in _INSIDE and self._hidden is None:
            self.pieces.append("\n")
