"""Small folders that cases start from. The same code gives the same bytes everywhere: no library draws."""

from __future__ import annotations

import base64
import gzip
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

WORLDS: dict[str, Callable[[Path], None]] = {}


def world(build: Callable[[Path], None]) -> Callable[[Path], None]:
    WORLDS[build.__name__] = build
    return build


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files: a text, compressed where the name ends in .gz or .zst; ``{base64 = ..}``, which is bytes;
    ``{link = ..}`` to somewhere; or ``{columns = {..}}``, a table in Parquet."""
    for name, given in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(given, str):
            path.write_bytes(_packed(given.encode("utf-8"), path.suffix))
        elif "base64" in given:
            path.write_bytes(base64.b64decode(given["base64"]))
        elif "link" in given:
            path.symlink_to(given["link"])
        else:
            import pyarrow
            import pyarrow.parquet as parquet

            parquet.write_table(pyarrow.table(given["columns"]), path)


def _packed(stored: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(stored, mtime=0)
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().compress(stored)
    return stored


def drawn(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1 that look drawn, by a rule that no version of Python changes."""
    state = seed * 2_654_435_761 + 12_345
    while True:
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        yield (state >> 40) / 2**24


def trec(tag: str, lists: dict[str, list[str]]) -> str:
    return "".join(
        f"{query} Q0 {document} {rank} {20 - rank / 2} {tag}\n"
        for query, documents in lists.items()
        for rank, document in enumerate(documents, 1)
    )


def table(head: str, rows: list[tuple[object, ...]], separator: str = ",") -> str:
    return "".join(f"{line}\n" for line in (head, *(separator.join(map(str, row)) for row in rows)))


@world
def empty(folder: Path) -> None:
    """Nothing at all."""


@world
def tiny(folder: Path) -> None:
    """Two queries, two runs, six documents: small enough to compute by hand."""
    documents = ["d1", "d2", "d3", "d4", "d5", "d6"]
    sides = dict(zip(documents, ("f", "f", "m", "f", "m", "m"), strict=True))
    sizes = dict(zip(documents, ("1", "2", "3", "1", "2", "3"), strict=True))
    texts = ("she said her own", "the woman and he", "he was his own man", "a lamp", "his father", "a mug")
    first = {"q1": documents[:5], "q2": ["d6", "d5", "d4", "d1"]}
    second = {"q1": ["d3", "d1", "d5", "d2", "d6"], "q2": ["d1", "d6", "d4", "d2"]}
    judged = ["q1 0 d1 2", "q1 0 d3 1", "q1 0 d4 0", "q2 0 d4 1", "q2 0 d2 2"]
    rows = list(zip(documents, texts, strict=True))
    write(
        folder,
        {
            "one.trec": trec("one", first),
            "two.trec": trec("two", second),
            "qrels.txt": "".join(f"{line}\n" for line in judged),
            "groups.csv": table("document,side,size", [(d, sides[d], sizes[d]) for d in documents]),
            "queries.tsv": "q1\twho was she\nq2\ta lamp for him\n",
            "documents.jsonl": "".join(json.dumps({"id": d, "text": t}) + "\n" for d, t in rows),
        },
    )


@world
def demo(folder: Path) -> None:
    """What a newcomer gets: 412 texts, 44 queries, two runs, and a project file."""
    from golden_commands import command

    ended = command(folder, ["init", {"demo": True}])
    assert ended.code == 0, ended.err


LEANING = (
    ("she", "her", "woman", "mother"),
    ("he", "his", "man", "father"),
    ("lamp", "road", "river", "glass"),
)


QUERIES = 32  # as many as a gate wants, and some more


@world
def research(folder: Path) -> None:
    """Thirty-two queries and three TREC runs; a lexicon counts the words of the documents; a gate."""
    draw = drawn(1)
    documents, leaning = [], []
    for number in range(60):
        side = int(next(draw) * 3)
        leaning.append(side)
        words = [LEANING[side if next(draw) < 0.6 else 2][int(next(draw) * 4)] for _ in range(12)]
        documents.append((f"D{number:02}", " ".join(words)))
    lists: dict[str, dict[str, list[str]]] = {"bm25": {}, "dense": {}, "fair": {}}
    judged = []
    for query in range(QUERIES):
        near = [next(draw) for _ in documents]
        for run, favour in (("bm25", 0.35), ("dense", 0.15), ("fair", 0.0)):
            score = {
                name: value + favour * (side == 1) + 0.3 * next(draw)
                for (name, _), value, side in zip(documents, near, leaning, strict=True)
            }
            lists[run][f"Q{query:02}"] = sorted(score, key=lambda name: (-score[name], name))[:20]
        judged += [
            (f"Q{query:02}", 0, name, int(value * 4))
            for (name, _), value in zip(documents, near, strict=True)
            if value > 0.6 or next(draw) < 0.1
        ]
    write(
        folder,
        {
            **{f"runs/{run}.trec": trec(run, ranked) for run, ranked in lists.items()},
            "qrels.txt": "".join(" ".join(map(str, row)) + "\n" for row in judged),
            "documents.tsv": "".join(f"{name}\t{text}\n" for name, text in documents),
            "queries.csv": table(
                "query,kind,text",
                [(f"Q{n:02}", ("need", "debate")[n % 2], f"what about {n}") for n in range(QUERIES)],
            ),
            "sources.csv": table(
                "document,source,age",
                [
                    (name, ("press", "blog", "agency")[n % 3], n % 4 + 1)
                    for n, (name, _) in enumerate(documents)
                ],
            ),
            "evenrank.toml": """baseline = "bm25"
[data]
runs = ["runs/*.trec"]
qrels = "qrels.txt"
documents = "documents.tsv"
queries = "queries.csv"
lexicon = "gender-en"
background = "bm25"
[groups]
source = "sources.csv"
[targets]
source = { press = 0.4, blog = 0.4, agency = 0.2 }
[measures]
use = ["nDCG@10", "NFaiRR@10", "AWRF(attr='source')@10"]
[gate.measures."nDCG@10"]
allowed = 0.1
[gate.measures."NFaiRR@10"]
allowed = 0.05
""",
        },
    )


@world
def shop(folder: Path) -> None:
    """240 products in an SQLite file that a search asks; small sellers are put lower; clicks were logged."""
    draw = drawn(2)
    things, looks = (
        ("lamp", "chair", "mug", "rug"),
        ("red", "blue", "oak", "steel", "glass", "wool", "black", "old"),
    )
    products, boosts = [], []
    for number in range(240):
        small = next(draw) < 0.6
        words = looks[int(next(draw) * 8)], things[int(next(draw) * 4)], looks[int(next(draw) * 8)]
        size = "small" if small else "large"
        colour = ("dark", "light")[int(next(draw) * 2)]
        products.append(
            {"id": f"p{number:03}", "text": " ".join(words), "seller_size": size, "colour": colour}
        )
        boosts.append(round(2 * next(draw) - 0.9 * small, 6))
    asked = [f"{look} {thing}" for look in looks for thing in things]
    clicks = [
        (f"s{query:02}", f"p{int(next(draw) * 240):03}", rank)
        for query in range(QUERIES)
        for rank in (1, 2, 4, 7)
    ]
    write(
        folder,
        {
            "products.jsonl": "".join(json.dumps(product) + "\n" for product in products),
            "queries.csv": table("query,text", [(f"s{n:02}", text) for n, text in enumerate(asked)]),
            "clicks.csv": table("query,document,rank", clicks),
            "shop.toml": '''address = "sqlite:///shop.db"
name = "shop"
fields = ["seller_size", "colour"]
text = ["text"]
sql = """
select id, seller_size, colour, text, boost as score
from products where products match :words order by score desc, id limit :depth
"""
''',
            "evenrank.toml": """[data]
documents = "products.jsonl"
queries = "queries.csv"
[engines]
shop = "shop.toml"
[groups]
seller_size = "products.jsonl"
[targets]
seller_size = "catalogue"
[audit]
depth = 20
[gate]
limits = ["GroupShare(attr='seller_size',attention=log2)@10[small] >= 0.2"]
""",
        },
    )
    database = sqlite3.connect(folder / "shop.db")
    database.execute(
        "create virtual table products using fts5"
        "(id unindexed, text, seller_size unindexed, colour unindexed, boost unindexed)"
    )
    database.executemany(
        "insert into products values (:id, :text, :seller_size, :colour, :boost)",
        [product | {"boost": boost} for product, boost in zip(products, boosts, strict=True)],
    )
    database.commit()
    database.close()


@world
def recommender(folder: Path) -> None:
    """Fourteen users who rated thirty films, and two recommenders; a user is a query, a film a document."""
    draw = drawn(3)
    genres = ("Drama", "Drama", "Comedy", "Horror")
    films = {f"m{number:02}": genres[int(next(draw) * 4)] for number in range(30)}
    ratings: list[tuple[object, ...]] = []
    popular: list[tuple[object, ...]] = []
    niche: list[tuple[object, ...]] = []
    for user in range(14):
        for film in films:
            if next(draw) < 0.4:
                ratings.append((f"u{user:02}", film, (1 + int(next(draw) * 9)) / 2))
        for place, film in enumerate(films):
            popular.append((f"u{user:02}", film, round(math.cos(place * 2.4) + 0.05 * next(draw), 6)))
            niche.append((f"u{user:02}", film, round(next(draw) + 0.2 * (films[film] == "Horror"), 6)))
    write(
        folder,
        {
            "films.csv": table("document,genre", list(films.items())),
            "ratings.csv": table("userId,movieId,rating", ratings),
            "popular.csv": table("query,document,score", popular),
            "niche.csv": table("query,document,score", niche),
            "evenrank.toml": """baseline = "popular"
[data]
runs = ["popular.csv", "niche.csv"]
qrels = { file = "ratings.csv", kind = "ratings" }
[groups]
genre = "films.csv"
[targets]
genre = "collection"
[measures]
use = ["nDCG@10", "AWRF@10", "Gini@10"]
[gate.measures."nDCG@10"]
allowed = 0.02
""",
        },
    )


@world
def opinions(folder: Path) -> None:
    """Ten debates with eight texts each, four for and four against; polarity by label and by number."""
    draw = drawn(4)
    sides, scores, texts, judged = [], [], [], []
    lists: dict[str, dict[str, list[str]]] = {"plain": {}, "mixed": {}}
    for debate in range(10):
        query = f"b{debate}"
        own = []
        for number in range(8):
            name, side = f"{query}-{number}", ("PRO", "CON")[number % 2]
            own.append((name, side))
            sides.append((query, 0, name, side))
            sign = 1 if side == "PRO" else -1
            scores.append((query, name, round(sign * (0.3 + 0.6 * next(draw)), 4)))
            texts.append((name, f"{'yes' if sign > 0 else 'no'} to question {debate} because of {number}"))
            judged.append((query, 0, name, int(next(draw) * 3)))
        first = {name: next(draw) + 0.4 * (side == "PRO") for name, side in own}
        lists["plain"][query] = sorted(first, key=lambda name: (-first[name], name))
        pro = [name for name in lists["plain"][query] if int(name[-1]) % 2 == 0]
        con = [name for name in lists["plain"][query] if int(name[-1]) % 2]
        lists["mixed"][query] = [name for pair in zip(con, pro, strict=True) for name in pair]
    write(
        folder,
        {
            **{f"{run}.trec": trec(run, ranked) for run, ranked in lists.items()},
            "stance.qrels": "".join(" ".join(map(str, row)) + "\n" for row in sides),
            "polarity.csv": table("query,document,polarity", scores),
            "qrels.txt": "".join(" ".join(map(str, row)) + "\n" for row in judged),
            "documents.jsonl": "".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in texts),
            "queries.csv": table("query,text", [(f"b{n}", f"is question {n} true") for n in range(10)]),
            "stance.csv": table("document,stance", [(name, side) for _, _, name, side in sides]),
            "evenrank.toml": """baseline = "plain"
[data]
runs = ["plain.trec", "mixed.trec"]
qrels = "qrels.txt"
documents = "documents.jsonl"
queries = "queries.csv"
polarity = "polarity.csv"
[groups]
stance = "stance.csv"
[targets]
stance = { PRO = 0.5, CON = 0.5 }
[measures]
use = ["DUO@8", "rND@8", "nDCG@8"]
[gate.measures."DUO@8"]
allowed = 0.05
""",
        },
    )


TOPICS = "title,domains,page\nzoos,Environment,101\nhomework,History; Philosophy,102\n"
WRITER = """name = "small"
license = "CC0 1.0"
[writer]
url = "MODEL_URL"
model = "writer-1"
rate = 100000
retries = 0
concurrency = 1
input_price = 1.0
output_price = 2.0
max_tokens = 300
[questions]
per_topic = 2
sample = 2
[documents]
attempts = 2
"""


@world
def debates(folder: Path) -> None:
    """A corpus of two contested questions that a model wrote, and its folder before anything was written."""
    from chat_server import ChatServer
    from golden_commands import command

    write(folder, {"list.csv": TOPICS, "new/corpus.toml": WRITER})
    with ChatServer().running() as server:
        write(folder, {"made/corpus.toml": WRITER.replace("MODEL_URL", server.url)})
        stages = ("questions", "perspectives", "documents", "filters", "distractors")
        for stage in (["topics", "made", {"from": "list.csv"}], *([stage, "made"] for stage in stages)):
            ended = command(folder, ["corpus", *stage])
            assert ended.code == 0, ended.err
    written = [
        json.loads(line)["document"]
        for stage in ("documents", "distractors")
        for line in (folder / f"made/{stage}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    scores = [{"document": name, "hate": place / 100} for place, name in enumerate(written)]
    write(folder, {"scores.jsonl": "".join(json.dumps(score) + "\n" for score in scores)})


@world
def study(folder: Path) -> None:
    """The example of a study, and nine participants whose answers were simulated once: codes are drawn anew
    each time. A study that has begun must stay readable, so they are kept as a database has them."""
    from golden_commands import command

    ended = command(folder, ["study", "new", "mine"])
    assert ended.code == 0, ended.err
    database = sqlite3.connect(folder / "mine/study.sqlite")
    database.execute("pragma journal_mode = wal")  # as the command itself does
    database.executescript((Path(__file__).parent / "study_answers.sql").read_text(encoding="utf-8"))
    database.close()


@world
def vectors(folder: Path) -> None:
    """Sixty documents with vectors of four numbers, which tell whether a text is about a woman."""
    draw = drawn(5)
    names = [f"d{number:02}" for number in range(60)]
    about = [next(draw) < 0.4 for _ in names]
    values = [[round(next(draw) + 0.8 * side, 4) for _ in range(4)] for side in about]
    write(
        folder,
        {
            "vectors.parquet": {"columns": {"document": names, "vector": values}},
            "documents.tsv": "".join(
                f"{name}\t{'she told her mother' if side else 'the weather is fine'}\n"
                for name, side in zip(names, about, strict=True)
            ),
            "groups.csv": table(
                "document,about", [(name, "wo"[not side]) for name, side in zip(names, about, strict=True)]
            ),
        },
    )
