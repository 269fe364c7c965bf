"""A report is a file that others send on: it loads nothing, and no name or text in it becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

from evenrank import Run, compare
from evenrank.cli import main

RUN = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0], name="one")


def test_it_is_html_that_loads_nothing(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    for element in pages.elements(root):
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
        for name in ("src", "srcset", "data", "action", "poster"):
            assert element.get(name, "data:").startswith("data:")
        assert element.get("href", "#").startswith("#")
        assert element.tag not in {
            f"{pages.HTML}{tag}" for tag in ("link", "base", "iframe", "object", "embed")
        }
    ids = [e.get("id") for e in pages.elements(root) if e.get("id")]
    assert len(ids) == len(set(ids))


def test_the_policy_names_our_scripts_and_our_style_and_nothing_else(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    (policy,) = [e.get("content") for e in pages.elements(root) if "http-equiv" in e.attrib]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy

    def hashes(tag: str) -> set[str]:
        inline = [e for e in pages.elements(root) if e.tag == f"{pages.HTML}{tag}" and e.get("type") is None]
        digests = [hashlib.sha256(e.text.encode()).digest() for e in inline]
        return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}

    digest = hashlib.sha256(library_of(sample_report.path)).digest()
    assert set(rules["script-src"].split()) == hashes("script") | {
        f"'sha256-{base64.b64encode(digest).decode()}'"
    }
    assert set(rules["style-src"].split()) == hashes("style")


def library_of(path: Path) -> bytes:
    """The script that draws charts, as the page holds it."""
    (packed,) = [e.text for e in pages.elements(pages.parsed(path)) if e.get("id") == "chart-library"]
    return zlib.decompress(base64.b64decode(packed))


def test_hostile_names_and_texts_change_nothing_but_text(hostile: tuple[Path, Path]) -> None:
    bad, good = (pages.parsed(path) for path in hostile)
    assert pages.structure(bad) == pages.structure(good)
    text = shown(bad)
    for payload in pages.PAYLOADS:
        seen = not {"\u2028", "\u202e"} & set(payload)  # else it is written as its number
        plain = payload if seen else payload.encode("unicode_escape").decode()
        assert re.sub(r"\s+", " ", plain) in text
    links = {e.get("href") for e in pages.elements(bad)} - {None}
    assert all(link.startswith(("#", "http://", "https://")) for link in links)
    # the data come back as they were, and groups can be told apart
    data = pages.data_of(bad)
    assert any(entry[0].startswith("</script><script>") for entry in data["documents"])
    assert len({tuple(rest) for _, *rest in data["groups"]}) == len(data["groups"])


def shown(root: Any) -> str:
    (body,) = [element for element in pages.elements(root) if element.tag == f"{pages.HTML}main"]
    return pages.text_of(body)


def test_every_payload_stands_in_every_field(hostile: tuple[Path, Path]) -> None:
    """Else the test above would test nothing."""
    data = pages.data_of(pages.parsed(hostile[0]))
    fields = {
        "systems": " ".join(data["systems"]),
        "queries": " ".join(query["id"] for query in data["queries"]),
        "asked": " ".join(query["text"] for query in data["queries"]),
        "why": " ".join(query["why"] for query in data["queries"]),
        "documents": " ".join(entry[0] for entry in data["documents"]),
        "texts": " ".join(json.dumps(entry[1], ensure_ascii=False) for entry in data["documents"]),
        "groups": " ".join(label for label, *_ in data["groups"]),
        "labels": " ".join(fact for query in data["queries"] for facts in query["facts"] for fact in facts),
    }
    for field, text in fields.items():
        for payload in pages.PAYLOADS:
            core = max(re.split(r"[^\w<>=/.:]+", payload), key=len)
            assert core in text, (field, payload)
    titles = pages.text_of(
        next(e for e in pages.elements(pages.parsed(hostile[0])) if e.tag.endswith("title"))
    )
    assert "</title><img src=x onerror=window.hurt=1>" in titles


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(at, marks=pytest.mark.slow) for at in range(3, len(pages.PAYLOADS), 3))]
)
def test_every_payload_in_the_card_the_bars_and_the_slider(first: int, tmp_path: Path) -> None:
    """Names are turned, so that every payload stands once in every field that names reach."""
    tags = []
    for kind in ("bad", "good"):
        names = [*pages.PAYLOADS[first:], *pages.PAYLOADS[:first]]
        names = names if kind == "bad" else [re.sub(r"\W", "-", payload) for payload in names]
        path = tmp_path / f"{kind}.html"
        planted_shop.shop_comparison(names=names).report(path)
        root = pages.parsed(path)
        parts = [
            e for e in pages.elements(root) if e.get("id") in ("verdicts", "shares", "whatif", "systems")
        ]
        assert len(parts) == 4
        tags.append([element.tag for part in parts for element in pages.elements(part)])
    assert tags[0] == tags[1]


def test_every_payload_in_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has what was typed."""
    monkeypatch.chdir(tmp_path)
    Path("one.trec").write_text("q Q0 a 1 2 one\nq Q0 b 2 1 one\n")
    Path("qrels.txt").write_text("q 0 b 1\n")
    structures = []
    for title in (" ".join(pages.PAYLOADS), "harmless"):
        command = ["report", "one.trec", "--qrels", "qrels.txt", "-m", "P@1", "--title", title]
        assert main([*command, "-o", "r.html"]) == 0
        structures.append(pages.structure(pages.parsed(tmp_path / "r.html")))
    assert structures[0] == structures[1]


SAFE = ["https://example.org/?a=b&c", "HTTP://example.org"]
UNSAFE = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "//example.org",
    "/local",
    "file:///etc/passwd",
    "https://",
    "http://[::1",
    "https://example.org/\u202egpj.exe",
]


def test_only_addresses_of_web_pages_are_linked_to(tmp_path: Path) -> None:
    urls = {f"d{place}": url for place, url in enumerate([*SAFE, *UNSAFE])}
    run = {"q": {document: -float(place) for place, document in enumerate(urls)}}
    comparison = compare({"one": run, "two": run}, f"P@{len(urls)}", qrels={"q": {"d0": 1}})
    comparison.report(tmp_path / "r.html", urls=urls)
    root = pages.parsed(tmp_path / "r.html")
    links = {e.get("href") for e in pages.elements(root)} - {None}
    assert {link for link in links if not link.startswith("#")} == set(SAFE)
    held = [e.text for e in pages.elements(root) if e.tag == f"{pages.HTML}script" and e.text]
    parts = [json.dumps(pages.data_of(root)), *held]
    assert not [url for url in UNSAFE for part in parts if f'"{url}"' in part]


def test_characters_that_no_page_can_hold(tmp_path: Path) -> None:
    texts = {"a": "first\x00and\ud800last\u2028", "b": "</script><!--]]>"}
    compare({"one": RUN, "two": RUN}, "P@2", qrels={"q": {"a": 1}}).report(
        tmp_path / "r.html", documents=texts
    )
    data = pages.data_of(pages.parsed(tmp_path / "r.html"))
    assert sorted(json.dumps(entry[1], ensure_ascii=False) for entry in data["documents"])[0] == (
        '["</script><!--]]>"]'
    )
    (other,) = [entry[1] for entry in data["documents"] if entry[0] == "a"]
    assert "first\ufffdand\ufffdlast" in "".join(other)


@pytest.mark.needs("vl_convert")
@pytest.mark.slow
def test_what_others_may_have_changed_is_not_put_into_a_report(tmp_path: Path) -> None:
    """The script that draws charts is kept for the next report, unless it is not whole or not ours alone."""
    (tmp_path / "one.trec").write_text("q Q0 a 1 2 one\nq Q0 b 2 1 one\n")
    (tmp_path / "two.trec").write_text("q Q0 b 1 2 two\nq Q0 a 2 1 two\n")
    (tmp_path / "qrels.txt").write_text("q 0 b 1\n")
    command = ["report", "one.trec", "two.trec", "--qrels", "qrels.txt", "-m", "P@1 P@2", "-o", "r.html"]

    def library(cache: str = "cache") -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "evenrank", *command],
            cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / cache)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return library_of(tmp_path / "r.html")

    first = library()
    (kept,) = (tmp_path / "cache/evenrank").glob("*.js")
    whole = kept.read_bytes()
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(whole + b"window.hurt = 1;")
    assert library() == first
    assert kept.read_bytes() == whole
    changed = b"window.hurt = 1;"
    kept.write_bytes(hashlib.sha256(changed).hexdigest().encode() + b"\n" + changed)
    kept.chmod(0o666)
    assert library() == first
    (tmp_path / "file").touch()
    assert library("file") == first  # nothing can be kept
