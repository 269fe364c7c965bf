"""Reports to look at: of the sample, and of names and texts that mean harm."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import html5lib

import evenrank as er
from evenrank import Attribute, Lexicon, Membership, Run, compare
from evenrank.comparison import Comparison
from evenrank.sample import load

HTML = "{http://www.w3.org/1999/xhtml}"

PAYLOADS = (
    "<script>window.hurt=1</script>",
    "</script><script>window.hurt=1</script>",
    "</style><script>window.hurt=1</script>",
    "</title><img src=x onerror=window.hurt=1>",
    "<img src=x onerror=window.hurt=1>",
    "<svg/onload=window.hurt=1>",
    "<svg><script>window.hurt=1</script></svg>",
    "\"><script>window.hurt=1</script>",
    "'><script>window.hurt=1</script>",
    "\" onmouseover=window.hurt=1 x=\"",
    "' autofocus onfocus=window.hurt=1 x='",
    "` onclick=window.hurt=1 `",
    "<iframe src=javascript:window.hurt=1></iframe>",
    "<object data=http://example.org/x></object>",
    "<link rel=stylesheet href=http://example.org/x.css>",
    "<base href=http://example.org/>",
    "<meta http-equiv=refresh content=0;url=http://example.org>",
    "<form action=http://example.org><input name=q></form>",
    "<a href=javascript:window.hurt=1>x</a>",
    "javascript:window.hurt=1",
    "data:text/html,<script>window.hurt=1</script>",
    "http://example.org/\"onclick=\"window.hurt=1",
    "https://example.org/a b\u202ecod.exe",
    "<!--<script>-->",
    "<![CDATA[<script>window.hurt=1</script>]]>",
    "&lt;script&gt;window.hurt=1&lt;/script&gt;",
    "{{ 7*7 }}{% for x in y %}",
    "${window.hurt=1}",
    "\u2028window.hurt=1//\u2029",
    "</textarea></noscript></template></details><style>*{display:none}</style>",
)  # fmt: skip


def sample_comparison() -> tuple[Comparison, Any]:
    """BM25 and what neutral re-ranking makes of it."""
    from sample_inputs import bm25_run, groups_of

    sample = load()
    run = bm25_run()
    words = er.scan(list(sample.documents.items()), er.read_lexicon("gender-en+gender-en-names"))
    fairer = er.rerank(run, "Neutral(band=10)", words=words)
    measures = "NFaiRR@10 TExFAIR@10 nDCG@10 GF(attr='leaning')@10 DUO(missing='drop')@10"
    found = compare(
        {"bm25": run, "fairer": fairer},
        measures,
        words=words,
        qrels=sample.qrels,
        groups=groups_of(sample),
        background=run,
        polarity=_polarity(sample),
    )
    return found, sample


def _polarity(sample: Any) -> Any:
    from sample_inputs import polarity_of

    return polarity_of(sample)


def named_report(path: Path, names: Sequence[str], urls: Sequence[str], *, title: str) -> None:
    """A report in which every name and text from outside is one of ``names``, in every field once."""
    count = len(names)
    documents = [f"{name} d" for name in names]
    texts = {
        d: f"{name} word{place} and word{(place + 1) % count}"
        for place, (d, name) in enumerate(zip(documents, names, strict=True))
    }
    lexicon = Lexicon.build(names[0], {name: [f"word{place}"] for place, name in enumerate(names)})
    words = er.scan(list(texts.items()), lexicon)
    groups = Membership.from_labels(Attribute("kind", tuple(names)), dict(zip(documents, names, strict=True)))
    runs = {}
    # ten systems: each name holds three payloads
    systems = ["".join(names[place::10]) for place in range(10)]
    for system, name in enumerate(systems):
        rows = [
            (query, documents[(place + step * (system + 1)) % count], 3.0 - step)
            for place, query in enumerate(names)
            for step in range(3 if system % 2 else 2)
        ]
        rows = list({(q, d): (q, d, s) for q, d, s in reversed(rows)}.values())
        queries, found, scores = map(list, zip(*rows, strict=True))
        runs[name] = Run.build(queries, found, scores, name=name, ties="file")
    qrels = {name: {documents[(place + 1) % count]: 1} for place, name in enumerate(names)}
    comparison = compare(
        runs,
        "NFaiRR@2 nDCG@2 GF(attr='kind')@2 GroupExposure@2",
        words=words,
        groups=groups,
        qrels=qrels,
        background=runs[systems[0]],
        query_reasons={name: f"because {name}" for name in names},
    )
    comparison.report(
        path,
        documents=texts,
        query_texts={name: f"asked {name}" for name in names},
        urls=dict(zip(documents, urls, strict=True)),
        title=title,
        readable=5,
    )


def hostile_and_harmless(folder: Path) -> tuple[Path, Path]:
    """The same report twice: with hostile names, and with harmless ones in their place."""
    hostile, harmless = folder / "hostile.html", folder / "harmless.html"
    named_report(hostile, PAYLOADS, PAYLOADS, title=" ".join(PAYLOADS))
    plain = [re.sub(r"\W", "-", payload) for payload in PAYLOADS]  # the same words, so the same values
    plain = [name + "-" * place for place, name in enumerate(plain)]
    urls = ["https://example.org/" if url.startswith("http://") else "none" for url in PAYLOADS]
    named_report(harmless, plain, urls, title="harmless")
    return hostile, harmless


def parsed(path: Path) -> Any:
    """The page as a real HTML parser sees it; what is not HTML is an error. It is for reading only."""
    return parsed_content(path.read_bytes())


@lru_cache(maxsize=4)  # many tests look at the same page, and the parser is slow
def parsed_content(content: bytes) -> Any:
    parser = html5lib.HTMLParser(strict=True)
    return parser.parse(content, override_encoding="utf-8")


def elements(root: Any) -> Iterator[Any]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def structure(root: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Every element with the names of its attributes, in order."""
    return [(element.tag, tuple(sorted(element.attrib))) for element in elements(root)]


def text_of(element: Any) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def by_class(root: Any, name: str) -> list[Any]:
    return [element for element in elements(root) if name in element.get("class", "").split()]


def unpacked(part: str) -> Any:
    """What a part of the page holds once it is looked at."""
    return json.loads(zlib.decompress(base64.b64decode(part)))


def data_of(root: Any) -> dict[str, Any]:
    """What the script knows: the index, with all parts unpacked beside it, query by query."""
    (found,) = [e for e in elements(root) if e.get("id") == "report-data"]
    data: dict[str, Any] = json.loads(found.text)
    lists, data["documents"] = (
        [row for e in by_class(root, kind) for row in unpacked(e.text)] for kind in ("part", "texts")
    )
    measures, systems = range(len(data["measures"])), range(len(data["systems"]))
    values = [[data["values"][m][s].split() for s in systems] for m in measures] if data["ids"] else []
    data["queries"] = [
        {
            "id": name,
            "text": data["texts"][place],
            "why": data["why"][place] if data["why"] else "",
            "values": [[values[m][s][place] for s in systems] for m in measures],
            **(lists[place] if lists else {}),
        }
        for place, name in enumerate(data["ids"])
    ]
    return data


def large_report(path: Path, queries: int = 1000, systems: int = 10) -> None:
    """Many queries and systems, with texts."""
    import numpy as np

    chance = np.random.default_rng(7)
    vocabulary = [f"word{place}" for place in range(400)] + ["he", "she", "woman", "man", "mother", "father"]
    documents = {f"document-{place}": " ".join(chance.choice(vocabulary, 70)) for place in range(30_000)}
    ids = list(documents)
    words = er.scan(list(documents.items()), er.read_lexicon("gender-en"))
    pools = [chance.choice(len(ids), 60, replace=False) for _ in range(queries)]
    runs = {}
    for system in range(systems):
        rows = [
            (f"q{query}", ids[chosen], float(-rank))
            for query, pool in enumerate(pools)
            for rank, chosen in enumerate(chance.permutation(pool)[:20])
        ]
        asked, found, scores = map(list, zip(*rows, strict=True))
        runs[f"system {system}"] = Run.build(asked, found, scores, name=f"system {system}")
    qrels = {
        f"q{query}": {ids[chosen]: int(chance.integers(0, 4)) for chosen in pool[:20]}
        for query, pool in enumerate(pools)
    }
    comparison = compare(
        runs, "NFaiRR@10 TExFAIR@10 nDCG@10", words=words, qrels=qrels, background=runs["system 0"]
    )
    texts = {f"q{query}": f"what is question {query} about" for query in range(queries)}
    comparison.report(path, documents=documents, query_texts=texts)
