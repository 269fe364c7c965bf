"""The text that a reader of a web page sees, without a browser.

Pages are cut into tags and text as the HTML standard has it, for pages that are not sound as well, and in one
pass: no page, however it was made, takes longer than its length allows. The result does not depend on the
version of Python, whose own parser reads the same page differently from one release to the next.

One thing differs from the standard: where an element other than a script or a style is never ended, all text
behind it would be hidden, or be its content. Here such an element has no content, and the text is kept.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe"})
# elements whose content is characters alone, up to their end tag: what looks like a tag in it is none
_CHARACTERS = frozenset({"script", "style", "noscript", "iframe", "title", "textarea", "xmp"})
_OWN_WAY = _HIDDEN | _CHARACTERS
_FOREIGN = frozenset({"svg"})  # of XML: a slash ends it, as in <svg/>; in HTML <script/> begins a script
_UNDECODED = frozenset({"xmp"})  # in which an ampersand is an ampersand
# a browser shows nothing behind one of these that has no end; others then have no content at all
_SWALLOWING = frozenset({"script", "style"})
# tags that stand inside a line: a word may go on behind them
_INSIDE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
})  # fmt: skip

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")
# a quantifier with another plus never gives back what it took: so no page is read twice
_TAG = re.compile(
    r"""<(?P<end>/?)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)
    (?:
        [\t\n\f\r ]++ | /(?!>)
        | [^\t\n\f\r />][^\t\n\f\r />=]*+  # the name of an attribute, which may begin with any character
          (?: [\t\n\f\r ]*+ = [\t\n\f\r ]*+
              (?: "[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | (?=>) | [^\t\n\f\r >"'][^\t\n\f\r >]*+ | \Z )
          )?+
    )*+
    (?P<empty>/?)>""",
    re.VERBOSE,
)
_BEGIN = re.compile("</?[a-zA-Z]")
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_ENDS = re.compile(rf"</({'|'.join(sorted(_OWN_WAY))})(?=[\t\n\f\r />])", re.I | re.A)
_LONG_NUMBER = re.compile(r"&#([0-9]{9,}+);?")


def html_text(page: str) -> str:
    """The text of a page, a line for each block, without scripts and styles.

    >>> html_text("<title>Cats</title><p>A <b>c</b>at &amp; a dog.<script>x()</script><p>End")
    'Cats\\nA cat & a dog.\\nEnd'
    """
    return _LINES.sub("\n", _BLANKS.sub(" ", "".join(_pieces(page)))).strip()


def _pieces(page: str) -> Iterator[str]:
    """The texts of a page, and a newline wherever a block begins or ends."""
    ends = _places_of_ends(page)
    hidden: str | None = None  # the element that keeps its content from being seen
    begin = at = 0  # of the text; and how far it was looked for a tag
    while (opened := page.find("<", at)) >= 0:
        if not _is_markup(page[opened + 1 : opened + 3]):
            at = opened + 1
            continue
        if hidden is None:
            yield _decoded(page[begin:opened])
        tag = _TAG.match(page, opened)
        if tag is None:
            begin = at = _end_of_other(page, opened)
            continue
        begin = at = tag.end()
        name = tag["name"].lower()
        if tag["end"]:
            hidden = None if name == hidden else hidden
        elif name in _OWN_WAY and hidden != "svg" and not (tag["empty"] and name in _FOREIGN):
            end = _end_of(name, ends, at, len(page))
            if end is not None and name in _CHARACTERS:
                if hidden is None and name not in _HIDDEN:
                    content = page[at:end]
                    yield f"\n{content if name in _UNDECODED else _decoded(content)}"
                begin = at = end
            elif end is not None and hidden is None:
                hidden = name
        if hidden is None and name not in _INSIDE:
            yield "\n"
    if hidden is None:
        yield _decoded(page[begin:])


def _is_markup(following: str) -> bool:
    """Whether what follows a ``<`` makes it the beginning of a tag, a comment or the like."""
    if following[:1] == "/":
        return len(following) > 1
    return following[:1] in ("!", "?") or (following[:1].isascii() and following[:1].isalpha())


def _end_of_other(page: str, opened: int) -> int:
    """Where a comment, a declaration, or a tag that never ends is over; the end of the page if nowhere."""
    if page.startswith("<!--", opened):
        comment = _COMMENT.match(page, opened)
        return len(page) if comment is None else comment.end()
    if _BEGIN.match(page, opened):
        return len(page)
    end = page.find(">", opened)
    return len(page) if end < 0 else end + 1


def _places_of_ends(page: str) -> dict[str, list[int]]:
    """Where the end tags are of the elements that are read in a way of their own."""
    found: dict[str, list[int]] = {}
    for end in _ENDS.finditer(page):
        found.setdefault(end[1].lower(), []).append(end.start())
    return found


def _end_of(name: str, ends: dict[str, list[int]], at: int, length: int) -> int | None:
    """Where the end tag of an element is that begins at a place; None if it has none."""
    own = ends.get(name, [])
    place = bisect_left(own, at)
    if place < len(own):
        return own[place]
    return length if name in _SWALLOWING else None


def _decoded(text: str) -> str:
    if "&" in text:
        text = html.unescape(_LONG_NUMBER.sub(_without_zeros, text))
    return text.replace("\n", " ")


def _without_zeros(number: re.Match[str]) -> str:
    """A number that Python reads: it takes none of any length."""
    digits = number[1].lstrip("0")
    return f"&#{digits};" if 0 < len(digits) < 8 else "\ufffd"  # which is no character
