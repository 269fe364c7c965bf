"""How long 1,000 queries at depth 100 take from OpenSearch, against opensearch-py with the same concurrency.

    make engines && python benchmarks/engines.py --write

One OpenSearch on loopback (tests/engines/servers.py) holds 20,000 made-up documents. Both sides send the
same searches from the same number of threads, once one query a request and once eight (`_msearch`), in
turns of 200 queries. evenrank also writes every answer to its log, checks the hits and makes the run;
opensearch-py only returns parsed JSON. Beside the time by the clock, which is that of the server and of
whatever else the machine does, stands the processor time of this process, which is that of the client alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import write_table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests/engines"))

import servers  # noqa: E402

from evenrank.engines import ask, open_engine  # noqa: E402

DOCUMENTS, QUERIES, DEPTH = 20_000, 1_000, 100
TURN = 200  # queries that one side asks before it is the other's turn
BODY = {"query": {"match": {"text": "{query}"}}}


def words(generator: np.random.Generator, count: int, tail: float) -> list[str]:
    """Words as often as in language: a few of them very often."""
    return [f"w{number}" for number in np.minimum(generator.zipf(tail, count), 30_000)]


def fill(server: str) -> dict[str, str]:
    """Index the documents; the queries."""
    generator = np.random.default_rng(0)
    servers.ask(
        f"{server}/bench", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}}, method="PUT"
    )
    for begin in range(0, DOCUMENTS, 2_000):
        lines = []
        for number in range(begin, begin + 2_000):
            document = {
                "text": " ".join(words(generator, 80, 1.3)),
                "seller": "small" if number % 3 else "large",
                "price": number % 97,
            }
            lines += [json.dumps({"index": {"_id": f"d{number}"}}), json.dumps(document)]
        servers.ask(f"{server}/bench/_bulk?refresh=true", ("\n".join(lines) + "\n").encode())
    servers.ask(f"{server}/bench/_forcemerge?max_num_segments=1", b"{}")
    # words that are neither everywhere nor rare: more than a hundred documents are found, and quickly
    asked = generator.integers(20, 300, (QUERIES, 3))
    return {f"q{at}": " ".join(f"w{word}" for word in row) for at, row in enumerate(asked)}


def ours(server: str, queries: dict[str, str], concurrency: int, batch: int) -> int:
    table = {
        "address": f"opensearch+{server}/bench",
        "body": BODY,
        "concurrency": concurrency,
        "batch": batch,
    }
    engine = open_engine(table, rate=float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        answers = ask(engine, queries, depth=DEPTH, log=folder)
    assert not answers.unanswered
    return len(answers.run.doc_ids)


def theirs(server: str, queries: dict[str, str], concurrency: int, batch: int) -> int:
    from opensearchpy import OpenSearch

    client = OpenSearch(server, pool_maxsize=concurrency)

    def body(text: str) -> dict[str, Any]:
        return {"query": {"match": {"text": text}}, "size": DEPTH, "_source": {"excludes": ["text"]}}

    def one(texts: list[str]) -> int:
        if batch == 1:
            return len(client.search(index="bench", body=body(texts[0]))["hits"]["hits"])
        lines = [line for text in texts for line in ({}, body(text))]
        found = client.msearch(index="bench", body=lines, params={"max_concurrent_searches": 1})
        return sum(len(answer["hits"]["hits"]) for answer in found["responses"])

    texts = list(queries.values())
    with ThreadPoolExecutor(concurrency) as pool:
        return sum(pool.map(one, [texts[at : at + batch] for at in range(0, len(texts), batch)]))


class Spent(NamedTuple):
    """Seconds by the clock, and of the processor in this process: the server's are not among them."""

    clock: float
    processor: float

    def __add__(self, other: Any) -> Spent:
        return Spent(self.clock + other.clock, self.processor + other.processor)


def measured(work: Callable[..., int], *arguments: Any) -> tuple[Spent, int]:
    begin = Spent(time.perf_counter(), time.process_time())
    found = work(*arguments)
    return Spent(time.perf_counter() - begin.clock, time.process_time() - begin.processor), found


def in_turns(server: str, queries: dict[str, str], concurrency: int, batch: int) -> tuple[Spent, Spent]:
    """What opensearch-py and evenrank spend on all queries, some at a time."""
    asked = list(queries.items())
    spent = {theirs: Spent(0, 0), ours: Spent(0, 0)}
    for turn, begin in enumerate(range(0, len(asked), TURN)):
        some = dict(asked[begin : begin + TURN])
        found = set()
        for side in (theirs, ours) if turn % 2 else (ours, theirs):
            own, count = measured(side, server, some, concurrency, batch)
            spent[side] += own
            found.add(count)
        assert len(found) == 1
    return spent[theirs], spent[ours]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/engines.md")
    options = parser.parse_args()
    rows = [
        "| threads | queries a request | opensearch-py, clock and processor | evenrank | ratio, clock | "
        "ratio, processor |",
        "|---|---|---|---|---|---|",
    ]
    with servers.opensearch() as server:
        queries = fill(server)
        version = servers.ask(server)["version"]["number"]
        theirs(server, queries, 2, 8)  # the server compiles what it does often
        ours(server, queries, 2, 8)
        for concurrency in options.threads:
            for batch in (1, 8):
                pairs = [in_turns(server, queries, concurrency, batch) for _ in range(options.repeats)]
                their, our = (Spent(*np.median(side, axis=0)) for side in zip(*pairs, strict=True))
                ratios = np.sort([[own.clock / one.clock, own.processor / one.processor]
                                  for one, own in pairs], axis=0)  # fmt: skip
                spread = [f"{low:.2f} to {high:.2f}" for low, high in zip(ratios[0], ratios[-1], strict=True)]
                rows.append(
                    f"| {concurrency} | {batch} | {their.clock:.2f} s, {their.processor:.2f} s | "
                    f"{our.clock:.2f} s, {our.processor:.2f} s | "
                    f"{our.clock / their.clock:.2f} ({spread[0]}) | "
                    f"{our.processor / their.processor:.2f} ({spread[1]}) |"
                )
                print(rows[-1], file=sys.stderr)
    table = "\n".join(rows) + "\n"
    print(table)
    if options.write:
        import opensearchpy

        told = (
            f"{QUERIES:,} queries, depth {DEPTH}, {DOCUMENTS:,} documents; medians of {options.repeats} "
            f"runs, ratios from the lowest to the highest. OpenSearch {version}, opensearch-py "
            f"{opensearchpy.__versionstr__}, Python {platform.python_version()}, 2 cores shared by server, "
            "clients and other work.\n\n"
        )
        write_table(__file__, table, told)


if __name__ == "__main__":
    main()
