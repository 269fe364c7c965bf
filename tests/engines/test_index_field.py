"""A penalty inside real engines: the file of ``evenrank scan --field`` is loaded as the guide says, the query
that it prints is asked, and the order is that of ``Penalty(scale='none')`` on the engine's own scores."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import servers
from servers import KEY, NotThere

import evenrank as er
from evenrank.sample import load

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

Evenrank = Callable[..., SimpleNamespace]
DEPTH = 1000
LEFT_OUT = 7  # every seventh document is indexed and never scanned, so that it has no field
FEATURE_BITS = 2.0**-8  # of a rank_feature's value, as the engine's documentation has it
LAM = 0.8


@pytest.fixture
def running() -> Iterator[Callable[[str], str]]:
    with ExitStack() as stack:

        def start(name: str) -> str:
            try:
                return stack.enter_context(getattr(servers, name)())  # type: ignore[no-any-return]
            except NotThere as error:
                pytest.skip(f"not there: {error}")

        yield start


@pytest.fixture(autouse=True)
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The documents of the sample; of those in documents.jsonl the neutrality is to be known."""
    monkeypatch.chdir(tmp_path)
    texts = dict(load().documents)
    with Path("documents.jsonl").open("w", encoding="utf-8") as file:
        for place, (key, text) in enumerate(texts.items()):
            if place % LEFT_OUT:
                file.write(json.dumps({"id": key, "text": text}) + "\n")
    er.scan("documents.jsonl", "gender-en", "counts.parquet")
    return texts


def lists_of(ask: Callable[[str], list[tuple[str, float]]]) -> dict[str, list[tuple[str, float]]]:
    lists = {query: ask(text) for query, text in load().queries.items()}
    return {query: found for query, found in lists.items() if found}


def write_field(
    evenrank: Evenrank, form: str, plain: dict[str, list[tuple[str, float]]]
) -> tuple[str, float]:
    """The query that the command prints for the scores of this engine, and the weight in it."""
    with Path("plain.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [(query, key, score) for query, own in plain.items() for key, score in own]
        csv.writer(file).writerows([("query", "document", "score"), *rows])
    outcome = evenrank(
        "scan",
        "counts.parquet",
        "--field",
        form,
        "--engine-run",
        "plain.csv",
        "--lam",
        str(LAM),
        "-o",
        "field",
    )
    assert outcome.code == 0, outcome.err
    spreads = [np.std([score for _, score in own][:100]) for own in plain.values()]
    weight = LAM * float(np.median([spread for spread in spreads if spread > 0]))
    assert f"lam {LAM} is {weight:.6g} in the scores" in outcome.err
    assert f"{weight:.6g}" in outcome.out
    return outcome.out, float(f"{weight:.6g}")


def check_order(
    plain: dict[str, list[tuple[str, float]]],
    found: dict[str, list[tuple[str, float]]],
    weight: float,
    tolerance: float,
) -> None:
    """Same documents in the same order; two that differ by less than the engine's numbers hold may swap."""
    run = er.read_run("plain.csv", ties="file")
    counts = er.read_counts("counts.parquet")
    expected = er.rerank(run, f"Penalty(lam={weight!r},scale='none')", words=counts)
    known = dict(zip(counts.doc_ids.to_pylist(), counts.counts.tolist(), strict=True))
    moved = exact = 0
    for query, own in plain.items():
        scores = dict(own)
        value = {}
        for key, score in scores.items():
            f, m = known.get(key, (0, 0))
            w = 1.0 if f + m <= 1 else 1 - abs(f - m) / (f + m)
            value[key] = score - weight * (1 - w)
        order = [key for key, _ in found[query]]
        assert sorted(order) == sorted(scores)
        values = [value[key] for key in order]
        wanted = [value[key] for key in expected.documents(query)]
        assert wanted == sorted(wanted, reverse=True)
        assert values == pytest.approx(wanted, abs=tolerance * (weight + max(scores.values())))
        exact += order == expected.documents(query)
        moved += order != [key for key, _ in own]
    assert moved > len(plain) / 2
    if tolerance < 1e-5:
        assert exact == len(plain)


@pytest.mark.parametrize("form", ["opensearch", "rank_feature"])
def test_opensearch_orders_as_the_penalty(
    form: str, running: Callable[[str], str], evenrank: Evenrank, collection: dict[str, str]
) -> None:
    server = running("opensearch")
    kind = "float" if form == "opensearch" else "rank_feature"
    texts = {
        key: text
        for place, (key, text) in enumerate(collection.items())
        if form == "opensearch" or place % LEFT_OUT  # without the field, a rank_feature adds nothing
    }
    servers.ask(f"{server}/index", {"settings": {"number_of_shards": 1}}, method="PUT")
    servers.ask(f"{server}/index/_mapping", {"properties": {"neutrality": {"type": kind}}}, method="PUT")
    lines = [
        json.dumps(row) for key, text in texts.items() for row in ({"index": {"_id": key}}, {"text": text})
    ]
    servers.ask(f"{server}/index/_bulk?refresh=true", ("\n".join(lines) + "\n").encode())

    def ask(body: dict[str, Any]) -> list[tuple[str, float]]:
        hits = servers.ask(f"{server}/index/_search", {**body, "size": DEPTH, "_source": False})["hits"]
        return [(hit["_id"], hit["_score"]) for hit in hits["hits"]]

    # updates change which documents come first among equals: the lists without the field are asked after them
    write_field(evenrank, form, {"q": [("a", 2.5), ("b", 1.0)]})
    loaded = servers.ask(f"{server}/index/_bulk?refresh=true", Path("field").read_bytes())
    assert not loaded["errors"], loaded
    servers.ask(f"{server}/index/_forcemerge?max_num_segments=1", b" ", method="POST")
    servers.ask(f"{server}/index/_refresh", b" ", method="POST")
    plain = lists_of(lambda text: ask({"query": {"match": {"text": text}}}))
    printed, weight = write_field(evenrank, form, plain)
    found = lists_of(lambda text: ask(json.loads(printed.replace('"QUERY"', json.dumps(text)))))
    check_order(plain, found, weight, 1e-6 if form == "opensearch" else FEATURE_BITS)


def test_postgresql_orders_as_the_penalty(
    running: Callable[[str], str], evenrank: Evenrank, collection: dict[str, str]
) -> None:
    import psycopg

    address = running("postgresql").removeprefix("postgresql://").partition("/")[0].split(":")
    with psycopg.connect(
        host=address[0],
        port=int(address[1]),
        user="evenrank",
        password=KEY,
        dbname="postgres",
        autocommit=True,
    ) as connection:
        stored = "search tsvector generated always as (to_tsvector('english', text)) stored"
        connection.execute(f'create table documents (id text collate "C" primary key, text text, {stored})')
        connection.cursor().executemany("insert into documents values (%s, %s)", collection.items())

        def ask(sql: str, text: str) -> list[tuple[str, float]]:
            words = " or ".join(text.split())
            return [(row[0], row[1]) for row in connection.execute(sql, {"query": words, "depth": DEPTH})]

        plainly = """select id, ts_rank_cd(search, words)::float8 as score
            from documents, websearch_to_tsquery('english', %(query)s) as words
            where search @@ words order by score desc, id limit %(depth)s"""
        plain = lists_of(lambda text: ask(plainly, text))
        printed, weight = write_field(evenrank, "postgresql", plain)
        connection.execute("alter table documents add column neutrality double precision")
        connection.execute("create temporary table scanned (id text primary key, w double precision)")
        with connection.cursor().copy("copy scanned from stdin with (format csv, header)") as copy:
            copy.write(Path("field").read_bytes())
        connection.execute(
            "update documents set neutrality = scanned.w from scanned where documents.id = scanned.id"
        )
        found = lists_of(lambda text: ask(printed, text))
    check_order(plain, found, weight, 1e-9)
