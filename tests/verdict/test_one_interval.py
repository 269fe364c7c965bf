"""Audit, report and gate say the same of a share, whatever the project is."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er

Evenrank = Callable[..., Any]

TARGETS = ("", "catalogue", "candidates", "equal", "given")  # "": the default
SHARES = {
    "size": {"large": 0.3, "small": 0.7},
    "colour": {"red": 0.4, "green": 0.3, "blue": 0.2, "gold": 0.1},
    "grade": {"low": 0.2, "middle": 0.3, "high": 0.5},
    "topic": {"news": 0.5, "sport": 0.25, "food": 0.25},
    "role": {"asked": 0.5, "other": 0.5},
}
PLAIN = ("size", "colour")  # attributes of one label a document
MULTILABEL = '{ file = "topics.csv", multilabel = true }'
GROUPS = sum(len(SHARES[name]) for name in PLAIN)
ATTENTIONS = ("log2", "uniform", "rbp(p=0.8)", "reciprocal")
SAYS = re.compile(r"(\w+) is [\d.]+%.*? gets ([\d.]+)% of the (attention in the )?first (\d+) places")


@dataclass(frozen=True)
class Project:
    """What is drawn of a project: who belongs to what, which target is taken, what its rules are."""

    seed: int
    target: str
    everywhere: bool  # the target is that of [audit], and not of each attribute
    names: tuple[str, ...] = ()  # of the attributes, where they are not drawn

    def generator(self, what: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, TARGETS.index(self.target), what))

    def groups(self) -> dict[str, str]:
        """The source of every attribute."""
        drawn = self.generator(0)
        sources = {
            "size": drawn.choice(["documents:unit=seller", "documents"]),
            "colour": "documents",
            "grade": "documents:ordinal:values=low,middle,high",
            "topic": drawn.choice([MULTILABEL, "topics.csv:full"]),
            "role": "roles.csv",
        }
        named = self.names or drawn.permutation(list(sources))[: drawn.integers(1, 4)].tolist()
        if self.everywhere and self.target == "catalogue":  # groups by query have none
            named = [name for name in named if name != "role"] or ["size"]
        return {name: str(sources[name]) for name in named}

    def settings(self) -> str:
        """The project file without its rules."""
        drawn = self.generator(1)
        lines = ["[data]", 'documents = "products.csv"']
        if missing := drawn.choice(["", "uniform", "none", "undefined"]):
            lines.append(f'missing = "{missing}"')
        if drawn.random() < 0.3:
            lines.append('lexicon = "gender-en"')
        groups = self.groups()
        lines += [
            "[groups]",
            *(
                f"{name} = {source if source == MULTILABEL else json.dumps(source)}"
                for name, source in groups.items()
            ),
        ]
        aims = dict.fromkeys(groups, self.target)
        lines += ["[audit]", f"depth = {drawn.choice([20, 100])}"]
        if self.everywhere and self.target not in ("", "given"):
            lines.append(f'target = "{self.target}"')
        elif self.target:
            aims |= {"role": "candidates"} if self.target == "catalogue" else {}
            lines.append("[targets]")
            lines += [f'{name} = "{self.written(name, aims[name])}"' for name in groups]
        return "\n".join(lines) + "\n"

    def written(self, name: str, target: str) -> str:
        """A target as [targets] has it."""
        given = ",".join(f"{value}:{share}" for value, share in SHARES[name].items())
        return given if target == "given" else target

    def write(self) -> None:
        """Products of sellers, some of them without labels, and lists that may lean to large sellers.

        One list in six holds no product with a label.
        """
        drawn = self.generator(2)
        products, queries = 300, int(drawn.choice([10, 20, 40, 60], p=[0.1, 0.3, 0.3, 0.3]))
        seller = drawn.integers(0, int(drawn.choice([6, 20, 100])), products)
        size = np.where(np.arange(100) % 3 == 0, "large", "small")[seller]
        colour = drawn.choice(["red", "green", "blue", "gold"], products, p=[0.5, 0.3, 0.19, 0.01])
        grade = drawn.choice(["low", "middle", "high"], products)
        word = drawn.choice(["she said", "he said", "it was said"], products)
        merit = drawn.normal(size=100)[seller] + drawn.normal(size=products)
        merit -= drawn.choice([0, 2]) * (size == "small")
        bare = [[f"bare{place}", "", "", "", "", "a product"] for place in range(30)]
        rows = [
            [
                f"p{place}", f"s{seller[place]}", size[place] if drawn.random() < 0.95 else "",
                colour[place], grade[place], f"{word[place]} {word[place]}",
            ]
            for place in range(products)
        ]  # fmt: skip
        write_rows("products.csv", ["id", "seller", "size", "colour", "grade", "text"], bare + rows)
        topics = [drawn.choice(list(SHARES["topic"]), drawn.integers(1, 3), False) for _ in range(products)]
        labels = [[f"p{place}", one] for place, several in enumerate(topics) for one in several]
        write_rows("topics.csv", ["document", "topic"], labels)
        roles, lines = [], []
        for query in range(queries):
            score = merit + drawn.normal(size=products)
            for rank, product in enumerate(np.argsort(-score)[:30].tolist(), 1):
                name = f"bare{rank - 1}" if query % 6 == 5 else f"p{product}"
                lines.append(f"q{query} Q0 {name} {rank} {score[product]:.6f} shop\n")
                if query % 6 != 5:
                    roles.append([f"q{query}", name, drawn.choice(["asked", "other"])])
        write_rows("roles.csv", ["query", "document", "role"], roles)
        Path("run.trec").write_text("".join(lines))
        Path("evenrank.toml").write_text(self.settings())

    def rules(self, verdicts: list[dict[str, Any]]) -> str:
        """A gate with two rules for every group: one on the share of the audit, one on another share."""
        drawn, limits, tables = self.generator(3), [], []
        for verdict in verdicts:
            if verdict["attribute"] not in SHARES:
                continue  # words are no groups of the project
            cutoff, attention = int(drawn.choice([5, 10])), drawn.choice(ATTENTIONS)
            missing = (
                "" if (cutoff, attention) == (10, "log2") else drawn.choice(["", ",missing='undefined'"])
            )
            other = f"GroupShare(attr='{verdict['attribute']}',attention={attention}{missing})@{cutoff}"
            audited = f"GroupShare(attr='{verdict['attribute']}',attention=log2)@10"
            for group in verdict["groups"]:
                for measure in dict.fromkeys((audited, other)):
                    ends = [group["target"], 0.5, known(group["share_low"], 0.1) - 0.01,
                            known(group["share_high"], 0.9) + 0.01]  # fmt: skip
                    floor, ceiling = sorted(drawn.choice(ends, 2).clip(0, 1).tolist())
                    kind, name = drawn.integers(0, 4), f"{measure}[{group['value']}]"
                    sides = {"floor": floor, "ceiling": ceiling}
                    sides = dict(
                        list(sides.items())[: kind + 1] if kind < 2 else list(sides.items())[kind - 2 :]
                    )
                    if drawn.random() < 0.5:
                        signs = {"floor": ">=", "ceiling": "<="}
                        limits += [f'"{name} {signs[side]} {value!r}"' for side, value in sides.items()]
                    else:
                        alpha = [] if measure == audited else [f"alpha = {drawn.choice([0.05, 0.2])}"]
                        held = [f"{side} = {value!r}" for side, value in sides.items()]
                        tables += [f'[gate.measures."{name}"]', *held, *alpha]
        return "\n".join(["[gate]", f"limits = [{', '.join(limits)}]", *tables, ""])


def write_rows(path: str, head: list[str], rows: list[list[Any]]) -> None:
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def known(value: float | None, otherwise: float = float("nan")) -> float:
    return otherwise if value is None else value


def finding(record: dict[str, Any], low: float, high: float) -> str:
    """What is to be found on a rule whose share has this interval."""
    floor, ceiling = known(record["floor"], -1.0), known(record["ceiling"], 2.0)
    if high < floor or low > ceiling:
        return "beyond"
    return "safe" if low >= floor and high <= ceiling else "unclear"


def audited(evenrank: Evenrank) -> tuple[Path, dict[str, Any]]:
    """The folder of the audit, and its summary."""
    made = evenrank("audit", "run.trec", "--project", "evenrank.toml", "-o", "audit")
    assert made.code == 0, made.err
    (written,) = Path("audit").glob("2*")
    return written, json.loads((written / "summary.json").read_text())


def gated(evenrank: Evenrank) -> tuple[Any, list[dict[str, Any]]]:
    found = evenrank("gate", "run.trec", "--project", "evenrank.toml", "--format", "jsonl")
    return found, [json.loads(line) for line in found.out.splitlines()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("target", TARGETS)
def test_audit_and_gate_never_disagree(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(seed, target, everywhere=seed % 2 == 0)
    project.write()
    _, summary = audited(evenrank)
    verdicts = summary["verdicts"]
    groups = {(one["attribute"], group["value"]): group for one in verdicts for group in one["groups"]}
    named = {one["attribute"]: one for one in verdicts if one["attribute"] in SHARES}
    assert set(named) == set(project.groups())
    assert all(
        one["queries"] < len(er.read_run("run.trec")) for one in named.values()
    )  # lists without labels
    if target not in ("", "catalogue"):
        assert {one["target"] for one in named.values()} == {target}
    sentences = [
        text for one, text in zip(verdicts, summary["sentences"], strict=True) if one["attribute"] in SHARES
    ]
    Path("evenrank.toml").write_text(project.settings() + project.rules(verdicts))
    found, records = gated(evenrank)
    assert all(sentence in found.err for sentence in sentences)
    for record in records:
        attribute = record["measure"].split("'")[1]
        group = groups[attribute, record["column"]]
        if record["measure"] == f"GroupShare(attr='{attribute}',attention=log2)@10":  # the share of the audit
            assert record["value"] == pytest.approx(group["share"])
            ends = group["share_low"], group["share_high"]
            few = group["decision"] == "too few"
            assert few or (record["low"], record["high"]) == pytest.approx(ends)
            assert record["finding"] == ("too few" if few else finding(record, *ends))
            if not few:
                assert (group["decision"] == "less than its target") == (
                    group["share"] < group["shown_below"]
                )
                assert (group["decision"] == "favoured") == (group["share"] > group["shown_above"])
        elif record["finding"] != "too few":
            assert record["low"] <= record["value"] <= record["high"]
            assert record["finding"] == finding(record, record["low"], record["high"])
    assert found.code == (3 if {one["finding"] for one in records} & {"beyond", "too few"} else 0)
    check_sentences(found.err, records)


def check_sentences(text: str, records: list[dict[str, Any]]) -> None:
    """A sentence of the gate has the value of one of its rules, and says attention where it is attention."""
    for value, percent, attention, cutoff in SAYS.findall(text):
        shares = [
            100 * one["value"]
            for one in records
            if one["column"] == value
            and one["measure"].endswith(f"@{cutoff}")
            and bool(attention) == ("attention=" in one["measure"])
        ]
        assert any(abs(share - float(percent)) <= 0.51 for share in shares), (value, percent, shares)


def test_the_projects_above_have_every_finding(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they never had, they could not disagree on."""
    monkeypatch.chdir(tmp_path)
    decisions, findings = set(), set()
    for seed in (1, 5):
        project = Project(seed, "", everywhere=False)
        project.write()
        written, summary = audited(evenrank)
        decisions |= {group["decision"] for one in summary["verdicts"] for group in one["groups"]}
        Path("evenrank.toml").write_text(project.settings() + project.rules(summary["verdicts"]))
        findings |= {one["finding"] for one in gated(evenrank)[1]}
        written.rename(f"of {seed}")
    assert decisions == {"favoured", "less than its target", "not shown", "too few"}
    assert findings == {"beyond", "unclear", "safe", "too few"}


def held_to_targets(verdicts: list[dict[str, Any]], measure: str) -> str:
    """A gate whose rules are the targets of all groups; ``measure`` has a place for the attribute."""
    rules = (
        f'[gate.measures."{measure.format(repr(verdict["attribute"]))}[{group["value"]}]"]\n'
        f"floor = {group['target']!r}\nceiling = {group['target']!r}\n"
        for verdict in verdicts
        for group in verdict["groups"]
    )
    return "".join(rules)


@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
def test_a_gate_on_counted_places_has_their_share_and_an_interval_that_decides(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Each of the first ten places counts the same, where an audit weighs them."""
    monkeypatch.chdir(tmp_path)
    project = Project(2, target, everywhere=False, names=PLAIN)
    project.write()
    verdicts = [one for one in audited(evenrank)[1]["verdicts"] if one["attribute"] in PLAIN]
    rules = held_to_targets(verdicts, "GroupShare(attr={})@10")
    Path("evenrank.toml").write_text(project.settings() + rules)
    found = {one["column"]: one for one in gated(evenrank)[1]}
    assert len(found) == sum(len(one["groups"]) for one in verdicts) == GROUPS
    with Path("products.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    run = er.read_run("run.trec")
    for verdict in verdicts:
        for group in verdict["groups"]:
            record = found[group["value"]]
            shares = []
            for query in run:
                labels = [rows[one][verdict["attribute"]] for one in run.documents(query)[:10]]
                labels = [label for label in labels if label]
                shares += [labels.count(group["value"]) / len(labels)] if labels else []
            assert record["value"] == pytest.approx(np.mean(shares))
            low, high = known(record["low"]), known(record["high"])
            outside = low > group["target"] or high < group["target"]
            assert outside == (record["finding"] == "beyond")


@pytest.mark.parametrize("option", [(), ("--missing", "undefined")])
def test_a_rule_on_another_share_has_its_own_bounds_and_no_sentence(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    """Where documents without a label are dropped, others stand at their places; --missing goes before."""
    monkeypatch.chdir(tmp_path)
    project = Project(5, "equal", everywhere=False, names=("size",))
    project.write()
    _, summary = audited(evenrank)
    rule = "GroupShare(attr='size',attention=log2,missing='drop')@10[small]"
    Path("evenrank.toml").write_text(f'{project.settings()}[gate]\nlimits = ["{rule} >= 0.01"]\n')
    found = evenrank("gate", "run.trec", "--project", "evenrank.toml", "--format", "jsonl", *option)
    (record,) = map(json.loads, found.out.splitlines())
    (small,) = (one for one in summary["verdicts"][0]["groups"] if one["value"] == "small")
    (sentence,) = summary["sentences"][:1]
    of_the_verdict = record["value"] == pytest.approx(small["share"])
    assert of_the_verdict == (sentence in found.err) == bool(option)
    assert ("drop" in record["measure"]) == (not option)


@pytest.mark.needs("altair", "vl_convert", "jinja2")
@pytest.mark.parametrize("target", ["catalogue", "candidates", "given"])
def test_reports_say_of_each_group_what_audit_and_gate_say(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(4, target, everywhere=target == "candidates", names=PLAIN)
    project.write()
    folder, summary = audited(evenrank)
    verdicts = [one for one in summary["verdicts"] if one["attribute"] in PLAIN]
    assert evenrank("report", "run.trec", "--project", "evenrank.toml", "-o", "report.html").code == 0
    rules = held_to_targets(verdicts, "GroupShare(attr={},attention=log2)@10")
    Path("evenrank.toml").write_text(project.settings() + rules)
    records = {one["column"]: one for one in gated(evenrank)[1]}
    assert len(records) == GROUPS
    for page in (folder / "report.html", Path("report.html")):
        rows = verdict_rows(page.read_text())
        for verdict in verdicts:
            for group in verdict["groups"]:
                row, record = rows[group["value"]], records[group["value"]]
                few = group["decision"] == "too few"
                assert row["verdict"].startswith("no verdict" if few else group["decision"])
                assert row["attention"] == [pytest.approx(100 * record["value"], abs=0.51)]
                beside = [100 * (share - group["target"]) for share in (record["value"], group["share"])]
                assert row["difference"] * 2 == pytest.approx(beside, abs=0.051)
                if not few:
                    ends = [100 * (record[end] - group["target"]) for end in ("low", "high")]
                    assert row["interval"] == pytest.approx(ends, abs=0.051)


@pytest.mark.needs("altair", "vl_convert", "jinja2")
@pytest.mark.parametrize("target", ["", "catalogue", "candidates", "equal"])
def test_measures_of_an_audit_and_a_report_have_the_target_of_their_verdicts(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Lists are 30 documents deep, and an audit of depth 20 looks at fewer of them as candidates."""
    monkeypatch.chdir(tmp_path)
    Project(2, "catalogue", everywhere=True, names=("size",)).write()
    aim = f'target = "{target}"\n' if target else ""
    settings = f'[data]\ndocuments = "products.csv"\n[groups]\nsize = "documents"\n[audit]\ndepth = 20\n{aim}'
    Path("evenrank.toml").write_text(settings)
    with Path("products.csv").open(newline="") as file:
        labels = {row["id"]: row["size"] for row in csv.DictReader(file) if row["size"]}
    run = er.read_run("run.trec")
    known = {"groups": {"size": labels}, "target": {"size": target or "catalogue"}}
    if target == "candidates":
        known["background"] = run.head(20)
    (value,) = er.evaluate(run, "GF@10", **known).summary()
    folder, _ = audited(evenrank)
    assert er.Scores.read(folder / "scores.jsonl").mean("GF(attr='size')@10") == pytest.approx(value.value)
    evenrank("report", "run.trec", "--project", "evenrank.toml", "-m", "GF@10", "-o", "report.html")
    er.report(run, "own.html", "GF@10", documents="products.csv", groups={"size": labels})
    pages = {"report.html": True, "own.html": target in ("", "catalogue")}
    for page, alike in pages.items():
        assert (f"{value.value:.4f}" in Path(page).read_text()) == alike


def verdict_rows(page: str) -> dict[str, dict[str, Any]]:
    """The numbers of each group in the table of verdicts of a report, and its verdict."""
    found = {}
    for group in itertools.chain.from_iterable(SHARES[name] for name in PLAIN):
        row = re.search(rf'<tr><th scope="row">{group}</th>(.*?)</tr>', page)
        assert row is not None
        cells = re.findall(r"<td>(.*?)</td>", row[1])
        numbers = [
            [float(one) for one in re.findall(r"[-+]?\d+(?:\.\d+)?", cell.replace("\N{MINUS SIGN}", "-"))]
            for cell in cells
        ]
        _, _, _, attention, _, difference, interval, *_ = numbers
        found[group] = {
            "attention": attention, "difference": difference, "interval": interval, "verdict": cells[-1],
        }  # fmt: skip
    return found
