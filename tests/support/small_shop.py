"""A small shop in files and in an SQLite database, for audits that must be quick."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from pathlib import Path

THINGS = ("lamp", "chair", "mug", "rug", "clock", "vase", "shelf", "mirror")
LOOKS = ("red", "blue", "green", "oak", "steel", "glass")
ENGINE = """address = "sqlite:///shop.db"
name = "shop"
fields = ["seller_size", "colour"]
text = ["text"]
sql = '''
select id, seller_size, colour, text, -bm25(products) + boost as score
from products where products match :words order by score desc, id limit :depth
'''
"""


def write_small_shop(folder: Path, lowered: float = 2.0, products: int = 400) -> None:
    chance = random.Random(3)
    rows = []
    for number in range(products):
        small = chance.random() < 0.6
        rows.append(
            {
                "id": f"p{number}",
                "text": f"{chance.choice(LOOKS)} {chance.choice(THINGS)} {'she' if number % 3 else 'he he'}",
                "seller_size": "small" if small else "large",
                "colour": chance.choice(("dark", "light")),
                "boost": chance.gauss(0, 1) - lowered * small,
            }
        )
    with (folder / "products.jsonl").open("w") as file:
        for row in rows:
            file.write(json.dumps({name: value for name, value in row.items() if name != "boost"}) + "\n")
    with (folder / "queries.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "text"])
        asked = [f"{look} {thing}" for look in LOOKS for thing in THINGS]
        writer.writerows((f"q{number}", text) for number, text in enumerate(asked))
    (folder / "shop.toml").write_text(ENGINE)
    database = sqlite3.connect(folder / "shop.db")
    database.execute(
        "create virtual table products using fts5"
        "(id unindexed, text, seller_size unindexed, colour unindexed, boost unindexed)"
    )
    database.executemany("insert into products values (:id, :text, :seller_size, :colour, :boost)", rows)
    database.commit()
    database.close()
