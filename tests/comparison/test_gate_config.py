"""``gate.toml``: what it says, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank import parse_measure
from evenrank.comparison.gate.config import GateConfig, gate_of
from evenrank.errors import DataError, ParameterError
from evenrank.io.toml import parse_toml


def read_gate(path: Path) -> GateConfig:
    return gate_of(parse_toml(path.read_bytes(), str(path)), str(path))


GOOD = """
alpha = 0.1
at_least = 10
correction = "none"
allowed = 0.5

[measures."nDCG@10"]
allowed_share = 0.02

[measures."NDKL@10"]

[measures."GroupExposure(groups='x')@10[f]"]
"""


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(GOOD.replace("GroupExposure(groups='x')@10[f]", "ARaB@10 [f]") + "limit = 2\n")
    config = read_gate(path)
    ndcg, ndkl, arab = config.gate.rules
    assert (ndcg.allowed, ndcg.allowed_share, ndcg.alpha, ndcg.at_least) == (None, 0.02, 0.1, 10)
    assert (ndkl.allowed, ndkl.measure) == (0.5, parse_measure("NDKL@10"))
    assert (arab.name, arab.column, arab.limit, arab.allowed) == ("ARaB@10[f]", "f", 2, None)
    assert config.gate.correction == "none"
    assert config.measures == [ndcg.measure, ndkl.measure, arab.measure]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'names no measure; one is written [gate.measures."nDCG@10"]'),
        ("alhpa = 0.1", "alhpa: there is no such key; did you mean alpha"),
        ("at-least = 9", "at-least: there is no such key; did you mean at_least"),
        ("measures = 3", "measures: must be a table, got 3"),
        ('[measures]\n"nDCG@10" = 0.1', "measures.nDCG@10: must be a table, got 0.1"),
        ('[measures."nDGC@10"]', """measures."nDGC@10": no measure is called 'nDGC'; did you mean nDCG"""),
        ('[measures."nDCG@10"]\nalowed = 1', "alowed: there is no such key; did you mean allowed"),
        ('[measures."nDCG@10"]\nallowed = "1"', "measures.nDCG@10.allowed: must be a number"),
        ('[measures."nDCG@10"]\nallowed = 1979-05-27', "measures.nDCG@10.allowed: must be a number, got"),
        ('[measures."nDCG@10"]\n[measures."NDCG@10"]', "nDCG@10: has 2 rules"),
        ('correction = 3\n[measures."nDCG@10"]', "correction: must be 'bonferroni' or 'none', got 3"),
        ('correction = ["x"]\n[measures."nDCG@10"]', "correction: must be 'bonferroni' or 'none'"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused_with_its_name_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        read_gate(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text("alpha == 3")
    with pytest.raises(DataError, match=r"gate\.toml: is not TOML: .*line 1"):
        read_gate(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"gate\.toml: is not UTF-8"):
        read_gate(path)


@pytest.mark.parametrize(
    "content",
    [
        "baseline = " + "[" * 5000 + "]" * 5000,
        "evidence = " + "{a = " * 5000 + "1" + "}" * 5000,
        '[measures."RR"]\nlimit' + ".a" * 5000 + " = 1\n",
    ],
    ids=["arrays", "tables", "dotted keys"],
)
def test_a_file_that_is_nested_too_deeply_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "gate.toml").write_text(content)
    with pytest.raises(DataError, match=r"gate\.toml: tables or arrays are nested more than 50 deep"):
        read_gate(tmp_path / "gate.toml")


def test_limits_are_floors_and_ceilings() -> None:
    share = "GroupShare(attr='size', attention=log2)@10[small]"
    content = {"limits": [f"{share} >= 0.3", f"{share}<=0.6", "nDCG@10 >= 0.5"], "alpha": 0.1}
    first, second = gate_of(content, "evenrank.toml").gate.rules
    assert (first.column, first.floor, first.ceiling, first.alpha) == ("small", 0.3, 0.6, 0.1)
    assert (second.name, second.floor, second.compares) == ("nDCG@10", 0.5, False)
    table = {"measures": {share: {"floor": 0.3, "ceiling": 0.6}, "nDCG@10": {"floor": 0.5}}, "alpha": 0.1}
    assert gate_of(table, "evenrank.toml").gate.rules == (first, second)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ("nDCG@10 >= 0.5", "limits: must be a list"),
        (["nDCG@10 > 0.5"], "write a measure, >= or <=, and a number"),
        (["nDCG@10 >= 1e"], "write a measure, >= or <=, and a number"),
        (["nDCG@10 >= 0.5", "nDCG@10 >= 0.6"], "'nDCG@10' has two values for >="),
        (["nDCG@10[ >= 0.5"], "nDCG"),
    ],
)
def test_what_is_wrong_with_limits(limits: object, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        gate_of({"limits": limits}, "evenrank.toml")


def test_a_measure_is_limited_once() -> None:
    with pytest.raises(ParameterError, match='limits and measures both have "nDCG@10"'):
        gate_of({"limits": ["nDCG@10 >= 0.5"], "measures": {"nDCG@10": {}}}, "evenrank.toml")
