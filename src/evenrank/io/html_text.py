"""The text that a reader of a web page sees: resiliparse parses it, as the HTML standard says."""

from __future__ import annotations

import re
from typing import Any

from evenrank.errors import MissingExtraError

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe"})
# elements that stand inside a line: a word may go on behind their tags
_INSIDE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
})  # fmt: skip
# Where one of these is not ended, the standard opens it again in every block that follows, so that a page of
# 250 kB made for it takes all memory. A span has the same text and is not opened again.
_FORMATTING = re.compile(r"<(/?)(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s/>])", re.I)
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")


def html_text(page: str, name: str) -> str:
    """The text of a page of the file ``name``, a line for each block, without scripts, styles and comments.

    >>> html_text("<title>Cats</title><p>A <b>c</b>at &amp; a dog.<script>x()</script><p>End", "cats.warc")
    'Cats\\nA cat & a dog.\\nEnd'
    """
    try:
        from resiliparse.parse.html import HTMLTree, NodeType, traverse_dom
    except ImportError as error:
        raise MissingExtraError.for_job(f"reading {name} (HTML)", "resiliparse", "warc") from error
    pieces: list[str] = []
    hidden: int | None = None  # the depth of the element whose content is not shown

    def enter(context: Any) -> None:
        nonlocal hidden
        if hidden is not None and context.depth > hidden:
            return
        hidden = None
        node = context.node
        if node.type == NodeType.TEXT:
            pieces.append(node.text.replace("\n", " "))
        elif node.type == NodeType.ELEMENT:
            tag = node.tag
            if tag in _HIDDEN:
                hidden = context.depth
            if tag not in _INSIDE:
                pieces.append("\n")

    def leave(context: Any) -> None:  # is not called for an element without content
        shown = hidden is None or context.depth <= hidden
        if shown and context.node.type == NodeType.ELEMENT and context.node.tag not in _INSIDE:
            pieces.append("\n")

    tree: Any = HTMLTree.parse(_FORMATTING.sub(r"<\1span", page))
    traverse_dom(tree.document, enter, leave)
    return _LINES.sub("\n", _BLANKS.sub(" ", "".join(pieces))).strip()
