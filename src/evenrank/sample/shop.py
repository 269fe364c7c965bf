"""Make a shop to try an audit on: 5,000 products, 200 queries, and a search engine in an SQLite file.

``python -m evenrank.sample.shop FOLDER [LOWERED]`` writes products.jsonl, queries.csv, shop.db and shop.toml
into a new folder. The engine ranks by the text and by a boost of each product, as shops do. The boosts of
small sellers are lower by LOWERED standard deviations (default: 1), which is the bias that an audit should
find; 0 plants none.
"""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import sys
from pathlib import Path

from evenrank.errors import DataError

PRODUCTS, QUERIES, SMALL = 5000, 200, 0.65
THINGS = (
    "lamp", "chair", "table", "kettle", "mug", "rug", "clock", "vase", "shelf", "mirror", "basket",
    "blanket", "pillow", "curtain", "candle", "bowl", "plate", "knife", "pan", "jar", "stool",
    "desk", "frame", "hook", "tray", "towel", "bench", "crate", "box", "bottle",
)  # fmt: skip
LOOKS = (
    "red", "blue", "green", "black", "white", "oak", "steel", "glass", "copper", "linen", "wool",
    "small", "large", "round", "folding",
)  # fmt: skip
USES = (
    "kitchen", "garden", "office", "bedroom", "bathroom", "hallway", "balcony", "workshop",
    "nursery", "picnic",
)  # fmt: skip
ENGINE = '''address = "sqlite:///shop.db"
name = "shop"
id = "id"
fields = ["seller_size", "country"]
text = ["text"]
sql = """
select id, seller_size, country, text, -bm25(products) + boost as score
from products where products match :words order by score desc, id limit :depth
"""
'''


def make_shop(folder: Path, lowered: float = 1.0, seed: int = 16) -> None:
    """Write the files of a shop. The same seed gives the same shop."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise DataError(f"{folder}: has files already: name a new folder")
    products = [_product(chance, number, lowered) for number in range(PRODUCTS)]
    with (folder / "products.jsonl").open("w", encoding="utf-8") as file:
        for product in products:
            shown = {name: value for name, value in product.items() if name != "boost"}
            file.write(json.dumps(shown) + "\n")
    asked = [f"{look} {thing} {use}" for look in LOOKS for thing in THINGS for use in USES]
    with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "text"])
        writer.writerows((f"q{n}", text) for n, text in enumerate(chance.sample(asked, QUERIES), 1))
    (folder / "shop.toml").write_text(ENGINE, encoding="utf-8")
    _index(folder / "shop.db", products)


def _product(chance: random.Random, number: int, lowered: float) -> dict[str, object]:
    small = chance.random() < SMALL
    words = [*chance.sample(LOOKS, 2), chance.choice(THINGS), "for", "the", *chance.sample(USES, 2)]
    return {
        "id": f"p{number:04}",
        "text": " ".join(words),
        "seller_size": "small" if small else "large",
        "country": chance.choice(("at", "de", "nl")),
        "boost": chance.gauss(0, 1) - lowered * small,
    }


def _index(path: Path, products: list[dict[str, object]]) -> None:
    with sqlite3.connect(path) as database:
        database.execute(
            "create virtual table products using fts5"
            "(id unindexed, text, seller_size unindexed, country unindexed, boost unindexed)"
        )
        database.executemany(
            "insert into products values (:id, :text, :seller_size, :country, :boost)", products
        )
    database.close()


if __name__ == "__main__":
    make_shop(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
