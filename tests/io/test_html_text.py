"""Text of web pages, against parsers that others wrote, and however a page was made in few steps."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import evenrank.io.html_text as module
from evenrank.io.html_text import html_text

INSIDE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip
HIDDEN = {"script", "style", "noscript", "template", "svg", "iframe"}


def lines(pieces: list[str]) -> str:
    """Blanks as one, blank lines as none."""
    every = ("".join(pieces)).split("\n")
    return "\n".join(line for line in (re.sub(r"\s+", " ", one).strip() for one in every) if line)


class Slow(HTMLParser):
    """The parser of the standard library, for pages that are sound."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in HIDDEN:
            self.hidden.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        if tag not in INSIDE and not self.hidden:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and self.hidden[-1] == tag:
            self.hidden.pop()
        self.handle_startendtag(tag, None)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data.replace("\n", " "))


WORDS = [
    "she", " ", "\n", "he said", "&amp;", "&eacute;t&eacute", "&#233;", "&#xe9;", "a &lt; b", "\u00e9",
    "&no;",
]  # fmt: skip
TAGS = [
    "<p>", "</p>", "<P CLASS=x>", "<b>", "</b>", "<br/>", "<br>", "<a href='a>b' title=\"c > d\">", "</a>",
    "<img src=a/b.png alt=x>", "<div\n id=1>", "<!-- a <b> comment -->", "<!DOCTYPE html>", "<td nowrap>",
    "<script>if (a < b) x = '<p>no</p>'</script>", "<style>p > b {}</style>", "<svg><text>no</text></svg>",
    "<noscript><img src=x></noscript>", "<iframe src=x></iframe>", "<template><p>no</p></template>",
]  # fmt: skip


def test_sound_pages_are_read_as_by_the_standard_library() -> None:
    generator = random.Random(1)
    for _ in range(400):
        page = "".join(generator.choices(WORDS + TAGS, k=generator.randrange(40)))
        parser = Slow()
        parser.feed(page)
        parser.close()
        assert html_text(page) == lines(parser.pieces), page


JUNK = [
    "<", ">", "</", "/>", "<!", "<!-", "<!--", "-->", "--!>", "-", "!", "<?", "<![CDATA[", "]]>", "'", '"',
    "=", "/", "<a", "<p", " x=", " ", "\n", "he", "&", "&am", "&amp", "&ampx;", "#38;", "&#x26", "<b>",
    "</p>", "\t", "</ p>", "<p/>", "a=b/>", "<1>", "<\u00e9>", "</\u00e9>", "</>",
]  # fmt: skip


def by_the_standard(page: str) -> str:
    """The tokens of html5lib, which follows the HTML standard to the letter."""
    tokenizer_module: Any = pytest.importorskip("html5lib._tokenizer", reason="html5lib is not installed")
    pieces = []
    for token in tokenizer_module.HTMLTokenizer(page):
        kind, data = token["type"], token["data"]
        if kind in (1, 2):  # characters, of which some are blank
            pieces.append(data.replace("\n", " "))
        elif kind in (3, 4) and token["name"] not in INSIDE:
            pieces.append("\n")
    return lines(pieces)


def test_pages_that_are_not_sound_are_read_as_by_the_standard() -> None:
    generator = random.Random(2)
    for _ in range(3000):
        page = "".join(generator.choices(JUNK, k=generator.randrange(1, 15)))
        assert html_text(page) == by_the_standard(page), page


# html5lib knows no templates
EMPTY = ["script", "style", "iframe", "noscript", "title", "textarea", "xmp", "svg", "div", "br"]


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("attributes", ["/", " /", " src=x />y<p"])
def test_a_slash_ends_an_element_only_where_the_standard_says_so(name: str, attributes: str) -> None:
    """In HTML ``<script/>`` begins a script; the slash means something in SVG alone."""
    html5lib: Any = pytest.importorskip("html5lib", reason="html5lib is not installed")
    page = f"a<{name}{attributes}>b</{name}>c"
    tree = html5lib.parse(page, namespaceHTMLElements=False, scripting=True)

    def texts(element: Any) -> Any:
        tag = str(element.tag).rpartition("}")[2]
        if tag in HIDDEN:
            return
        yield element.text or ""
        for child in element:
            yield from texts(child)
            yield child.tail or ""

    assert html_text(page).replace("\n", "") == "".join(texts(tree))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<script/>b", "a"),
        ("a<template/>b</template>c", "a\nc"),
        ("<p>a<iframe/>b<p>c", "a\nb\nc"),
        ("<p>a<iframe src=x>b<p>c", "a\nb\nc"),
        ("<p>a<iframe src='x' />b</p>", "a\nb"),
        ("<p>a<noscript>b<p>c", "a\nb\nc"),
        ("<p>a<noscript/>b", "a\nb"),
        ("<p>a<noscript><p>b</noscript>c", "a\nc"),
        ("<p>a<svg>b<p>c", "a\nb\nc"),
        ("a<svg/>b", "a\nb"),
        ("a<template><script>'</template>'</script>b</template>c", "a\nc"),
        ("a<script>b", "a"),
        ("a<script>b</SCRIPT >c", "a\nc"),
        ("<title>a <b> &amp; c</title>d", "a <b> & c\nd"),
        ("<title>a<p>b", "a\nb"),
        ("<xmp>a &amp; <b></xmp>b", "a &amp; <b>\nb"),
        ("<p>a<![foo[b]]>c<p>d", "ac\nd"),
        (f"a&#{'9' * 5000};b&#{'0' * 5000}65;", "a\ufffdbA"),
    ],
)
def test_text_behind_elements_without_an_end_is_kept(page: str, text: str) -> None:
    assert html_text(page) == text


REPEATED = [
    "<a ", "<!--", "&", "<script", "<![CDATA[", '"', "'", "<a b=\"", "<a b=' ", "<", "</", "<?", "<iframe>",
    "<svg>", "<noscript>", "</svg>", "<title>", "&#9", "a= ", "<p a=b/", " \n", "\t", "--!", "<template></p>",
]  # fmt: skip


AROUND = ["{}", "<a {}>", "<p>{}</p>", "<script>{}", "<iframe>{}</iframe>", "<!--{}"]


class Counted(str):
    """A page that counts the characters that are looked for, cut out, or run over by a pattern."""

    looked_at = 0

    def find(self, *options: Any) -> int:
        found = super().find(*options)
        self.looked_at += (found if found >= 0 else len(self)) - options[1] + 1
        return found

    def __getitem__(self, part: Any) -> str:
        cut = super().__getitem__(part)
        self.looked_at += len(cut)
        return cut


class Counting:
    """A pattern that counts how far it runs. One that fails where it could begin has run to the end."""

    def __init__(self, pattern: re.Pattern[str], begins: str) -> None:
        self.pattern, self.begins = pattern, re.compile(begins)

    def match(self, page: Counted, place: int) -> re.Match[str] | None:
        found = self.pattern.match(page, place)
        if found is not None:
            page.looked_at += found.end() - place
        elif self.begins.match(page, place):
            page.looked_at += len(page) - place
        return found


@pytest.mark.parametrize("around", AROUND)
def test_no_page_takes_more_steps_than_its_length_allows(
    monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    """A page twice as long takes twice as many; a pass from every ``<`` to the end would take four times."""
    monkeypatch.setattr(module, "_TAG", Counting(module._TAG, "</?[a-zA-Z]"))
    monkeypatch.setattr(module, "_COMMENT", Counting(module._COMMENT, "<!--"))
    for piece in REPEATED:
        looked_at = []
        for times in (500, 1000):
            page = Counted(around.format(piece * times))
            html_text(page)
            looked_at.append(page.looked_at)
        assert looked_at[1] <= 2.2 * looked_at[0], piece
        assert looked_at[1] <= 8 * len(page), piece


def test_the_pattern_of_tags_never_gives_back_what_it_took() -> None:
    """Steps within a pattern cannot be counted, so it must not be able to go back and try again."""

    def repeats(parsed: Any) -> Any:
        for operation, argument in parsed:
            if str(operation).endswith("REPEAT"):
                yield str(operation), argument[1]
            for inner in argument if isinstance(argument, tuple) else (argument,):
                options = inner if isinstance(inner, list) else [inner]
                for option in options:
                    if isinstance(option, parser.SubPattern):
                        yield from repeats(option)

    parser: Any = pytest.importorskip("re._parser", reason="this Python keeps its parser elsewhere")
    found = list(repeats(parser.parse(module._TAG.pattern, module._TAG.flags)))
    assert len(found) > 10
    unbounded = {operation for operation, most in found if most == parser.MAXREPEAT}
    assert unbounded == {"POSSESSIVE_REPEAT"}
