"""What an audit advises: the command that it prints works as it is, and gives what it promises."""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_shop import write_small_shop

Evenrank = Callable[..., SimpleNamespace]

KNOWN = ["--queries", "queries.csv", "--documents", "products.jsonl", "--groups", "seller_size"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # reports take seconds
    return tmp_path


def command_to_try(printed: str) -> str:
    """The command that an audit prints, as it would be pasted."""
    lines = printed[printed.index("evenrank rerank") :].splitlines()
    last = next(place for place, line in enumerate(lines) if not line.endswith("\\"))
    return "\n".join(lines[: last + 1])


@pytest.mark.slow  # the others take the command apart as a shell does, and run it here
def test_a_shell_runs_the_command_to_try_as_it_is_printed(evenrank: Evenrank, shop: Path) -> None:
    printed = evenrank("audit", "shop.toml", *KNOWN).out
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", command_to_try(printed)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "target of seller_size: catalogue" in done.stderr
    assert_promise_is_kept(evenrank, shop)


def assert_promise_is_kept(evenrank: Evenrank, shop: Path) -> None:
    """The new order gives the group the share that the advice names."""
    content = json.loads((shop / "audit/latest/summary.json").read_text())
    (verdict,) = [one for one in content["verdicts"] if one["advice"] is not None]
    promised, command = verdict["advice"]["after"], verdict["advice"]["command"]
    groups, target = (command[command.index(option) + 1] for option in ("--groups", "--target"))
    measure = f"GroupShare(missing='none', attention=log2)@{verdict['cutoff']}"
    options = ["--groups", groups, "--target", target, "-m", measure, "--format", "jsonl"]
    (row,) = [
        row
        for row in map(json.loads, evenrank("evaluate", "fairer.trec", *options).out.splitlines())
        if row["column"] == verdict["advice"]["group"]
    ]
    assert row["value"] == pytest.approx(promised, abs=1e-12)
    assert Path(command[2]).is_file()


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--target", "candidates"],
        ["--target", "seller_size=small:0.5,large:0.5"],
        ["--target", "seller_size=targets.csv"],
    ],
)
def test_the_command_to_try_names_the_target(evenrank: Evenrank, shop: Path, options: list[str]) -> None:
    (shop / "targets.csv").write_text("value,share\nlarge,0.45\nsmall,0.55\n")
    printed = evenrank("audit", "shop.toml", *KNOWN, *options).out
    assert max(map(len, printed.splitlines())) <= 80
    words = shlex.split(command_to_try(printed).replace("\\\n", " "))
    done = evenrank(*words[1:])
    assert (done.code, "target of seller_size: " in done.err) == (0, True)
    assert_promise_is_kept(evenrank, shop)


def test_the_command_to_try_names_groups_of_words(evenrank: Evenrank, shop: Path) -> None:
    """Words of a lexicon are no field and no file of the user: the audit writes who was counted where."""
    texts = {place: ("she her" if place % 2 else "he his him") + f" {place}" for place in range(400)}
    with (shop / "texts.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": f"p{n}", "text": text}) + "\n" for n, text in texts.items())
    with (shop / "run.trec").open("w") as file:
        for query in range(40):
            chosen = [(query * 10 + n) % 400 for n in range(40)]
            chosen.sort(key=lambda place: place % 2)  # he stands first
            file.writelines(f"q{query} Q0 p{n} {r} {-r} x\n" for r, n in enumerate(chosen))
    printed = evenrank("audit", "run.trec", "--documents", "texts.jsonl", "--lexicon", "gender-en").out
    assert "words of gender-en: female is 50% of the catalogue but gets 0%" in printed
    assert max(map(len, printed.splitlines())) <= 80
    words = shlex.split(command_to_try(printed).replace("\\\n", " "))
    found = evenrank(*words[1:])
    assert found.code == 0, found.err
    assert "target of words of gender-en: catalogue" in found.err
    assert_promise_is_kept(evenrank, shop)


def test_it_says_where_no_order_of_what_is_found_can_help(evenrank: Evenrank, shop: Path) -> None:
    """Every list has one product of a small seller, where they are 60% of the catalogue."""
    small = [json.loads(line) for line in (shop / "products.jsonl").read_text().splitlines()]
    ids: dict[str, list[str]] = {"small": [], "large": []}
    for one in small:
        ids[one["seller_size"]].append(one["id"])
    with (shop / "run.trec").open("w") as file:
        for query in range(40):
            chosen = [*(ids["large"][(query * 3 + n) % len(ids["large"])] for n in range(19)),
                      ids["small"][query]]  # fmt: skip
            file.writelines(f"q{query} Q0 {name} {r} {-r} x\n" for r, name in enumerate(chosen))
    printed = evenrank("audit", "run.trec", *KNOWN).out
    weights = [1 / math.log2(rank + 1) for rank in range(1, 11)]
    most = 100 * weights[0] / sum(weights)  # the one of them stands first
    printed = " ".join(printed.split())
    assert "too few of small are found: for 40 of 40 queries" in printed
    assert f"small gets {most:.0f}%" in printed


@pytest.mark.parametrize("command", [["evaluate"], ["explain", "--worst", "1"], ["explain", "--draws", "2"]])
def test_commands_say_the_target_that_they_took(evenrank: Evenrank, shop: Path, command: list[str]) -> None:
    lines = [f"q{q} Q0 p{q * 7 + n} {n} {-n} x\n" for q in range(5) for n in range(8)]
    (shop / "run.trec").write_text("".join(lines))
    words = [command[0], "run.trec", *command[1:], *KNOWN[2:], "-m"]
    for target, name in (([], "equal"), (["--target", "seller_size=catalogue"], "catalogue")):
        done = evenrank(*words, "GF@5", *target)
        assert f"target of 'seller_size': {name}" in done.out + done.err
    if command != ["explain", "--worst", "1"]:  # no list is worst by a measure that has no better
        done = evenrank(*words, "GroupShare@5")
        assert "target of" not in done.out + done.err


def test_no_line_of_advice_is_wider_than_a_terminal(evenrank: Evenrank, shop: Path) -> None:
    """Long names too; two attributes whose names begin alike have a file each."""
    names = ["size_of_the_seller_by_sales", "size_of_the_seller_again"]
    groups = [word for name in names for word in ("--groups", f"{name}=products.jsonl:column=seller_size")]
    printed = evenrank("audit", "shop.toml", *KNOWN[:4], *groups).out
    assert "evenrank rerank" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert len(list((shop / "audit/latest/groups").iterdir())) == 2
