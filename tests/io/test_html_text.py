"""What counts as the text of a web page: as html5lib reads it, and the same under every Python."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
from typing import Any

import pytest

from evenrank.io import read_documents

pytestmark = pytest.mark.needs("resiliparse")

INSIDE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip
HIDDEN = {"script", "style", "noscript", "template", "svg", "iframe"}


def texts_of(*pages: str) -> list[str]:
    """The texts of pages, as those of documents of TREC."""
    data = "".join(f"<DOC><DOCNO>{number}</DOCNO>{page}</DOC>\n" for number, page in enumerate(pages))
    batches = read_documents(io.BytesIO(data.encode()), format="trecweb")
    return [row["text"] for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("<title>Cats</title><body>my &amp; me&eacute;&#233;&#xe9;", "Cats\nmy & me\u00e9\u00e9\u00e9"),
        ("<p>one<br>two</p><style>p {}</style><table><td>a<td>b</table>", "one\ntwo\na\nb"),
        ("A <b>c</b>at<!-- no --> and <i>d</i><font size=1>og</font>", "A cat and dog"),
        ("<p>She<p>he<div>they</div>it", "She\nhe\nthey\nit"),
        ("<ul><li>a<li>b</ul><select><option>c<option>d</select>", "a\nb\nc\nd"),
        ("<HEADLINE>Fathers</HEADLINE><TEXT>news</TEXT>", "Fathers\nnews"),
        ("a<svg><a href=x><text>no</text></a></svg>b<template><p>no</template>c", "a\nb\nc"),
        ("a<iframe>no</iframe>b<noscript>no</noscript>c<script>'<p>no'</SCRIPT >d", "a\nb\nc\nd"),
        ("a<script/>never ended", "a"),
        ("<xmp>a &amp; <p></xmp>b", "a &amp; <p>\nb"),
        ("<a href='a>b' title=\"c > d\">e</a> < f", "e < f"),
        (f"a&#{'9' * 5000};b&#{'0' * 5000}65;", "a\ufffdbA"),
        ("a\x00b", "ab"),
    ],
)
def test_the_text_of_a_page(page: str, text: str) -> None:
    assert texts_of(page) == [text]


PIECES = [
    "she", " ", "\n", "he said", "&amp;", "&eacute;t&eacute", "a &lt; b", "\u00e9", "&no;", "<p>", "</p>",
    "<P CLASS=x>", "<b>", "</b>", "<i>", "<br/>", "<img src=a/b.png alt=x>", "<div\n id=1>", "</div>", "<",
    "<!-- a <b> comment -->", "<!DOCTYPE html>", "<script>if (a < b) x = '<p>no</p>'</script>", "</ p>", ">",
    "<style>p > b {}</style>", "<svg><text>no</text></svg>", "<iframe src=x>no</iframe>", "<h1>", "</h1>",
    "<ul><li>", "</ul>", "<!", "<!--", "-->", "<?", "'", '"', "=", "<a b=", "<1>", "</>", "&#38;", "<li>",
]  # fmt: skip


def by_html5lib(page: str) -> str:
    def texts(element: Any) -> Any:
        if not isinstance(element.tag, str):  # a comment
            return
        tag = element.tag.rpartition("}")[2]
        yield "" if tag in INSIDE else "\n"
        if tag not in HIDDEN:
            yield (element.text or "").replace("\n", " ")
            for child in element:
                yield from texts(child)
                yield (child.tail or "").replace("\n", " ")
        yield "" if tag in INSIDE else "\n"

    html5lib: Any = pytest.importorskip("html5lib", reason="html5lib is not installed")
    every = "".join(texts(html5lib.parse(page, namespaceHTMLElements=False))).split("\n")
    return "\n".join(line for line in (re.sub(r"\s+", " ", one).strip() for one in every) if line)


def test_pages_are_read_as_by_another_parser_of_the_standard() -> None:
    generator = random.Random(1)
    pages = ["".join(generator.choices(PIECES, k=generator.randrange(30))) for _ in range(2000)]
    for page, text in zip(pages, texts_of(*pages), strict=True):
        assert text == by_html5lib(page), page


def test_tags_that_are_opened_again_in_every_block_take_no_more_memory_than_others() -> None:
    """Each of the 8,000 paragraphs would have 8,000 elements: more than ten gigabytes."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "import io\n"
        "from evenrank.io import read_documents\n"
        "page = '<p>' + ''.join(f'<b {n}>' for n in range(8000)) + '</p>' + '<p>x' * 8000\n"
        "source = io.BytesIO(f'<DOC><DOCNO>1</DOCNO>{page}</DOC>'.encode())\n"
        "(batch,) = read_documents(source, format='trecweb')\n"
        "print(len(batch.column('text')[0].as_py().split()))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "8000\n"), ran.stderr[-500:]
