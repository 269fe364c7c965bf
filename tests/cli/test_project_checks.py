"""``doctor`` looks at every entry of a project file, and finds every problem in one go."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]

SOUND = """
baseline = "dense"

[data]
runs = ["*.trec"]
qrels = "qrels.txt"
queries = "asked.csv"

[groups]
side = "sides.csv"

[measures]
use = ["RR", "GF@2"]
labels = {"RR" = "Rank", "P@1" = "Precision"}
"""


@pytest.fixture
def doctor(evenrank: Evenrank, files: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """The problems that doctor finds in a project file; any request would be an error."""

    def refuse(*given: object, **more: object) -> None:
        raise AssertionError("doctor asked a host")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    (files / "asked.csv").write_text("query,text,topic\nq1,what is a,x\nq2,what is c,y\n")
    (files / "sides.csv").write_text("document,side\na,left\nb,right\nc,left\nd,right\ne,left\n")

    def problems(text: str) -> list[str]:
        (files / "evenrank.toml").write_text(text)
        done = evenrank("doctor", "--project", "evenrank.toml")
        found = [line.removeprefix("problem: ") for line in done.out.splitlines() if "problem: " in line]
        assert (done.code == 1) == bool(found)
        assert ("all is well" in done.out) != bool(found)
        return found

    return problems


def test_a_sound_project_has_no_problem(doctor: Callable[[str], list[str]]) -> None:
    assert doctor(SOUND) == []


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('[measures]\nuse = ["nDGC@10"]', "measures.use: no measure is called 'nDGC'"),
        ('[measures]\nuse = ["NFaiRR@10"]', "NFaiRR@10: several runs need one common background"),
        ('[measures]\nuse = ["DUO@10"]', "DUO@10 needs polarity: pass --polarity FILE"),
        ("[measures]\nuse = [\"GF(attr='age')@10\"]", "groups of 'age': pass --groups age=FILE"),
        ('[measures]\nuse = ["nDCG"]\ncutoffs = [0]', "measures.cutoffs.0: must be greater than or equal"),
        ('[measures]\nlabels = {"nDGC" = "Gain"}', "measures.labels: no measure is called 'nDGC'"),
        (
            "[data.intents]\nfile = 'qrels.txt'\nchance = 'x'",
            "data.intents.chance: there is no such key",
        ),
        ('[compare]\ntest = "zzz"', "compare.test: must be 't', 'wilcoxon' or 'permutation', got 'zzz'"),
        ('[compare]\ncorrection = "t"', "compare.correction: must be 'none', 'bonferroni', 'holm' or 'bh'"),
        ("[compare]\nalpha = 7", "compare.alpha: must be less than 1, got 7"),
        ('[compare]\nseed = "x"', "compare.seed: must be an integer"),
        ("[report]\nreadable = -1", "report.readable: must be greater than or equal to 0, got -1"),
        ('[report]\nsort_by = "nDGC"', "report.sort_by: no measure is called 'nDGC'"),
        ('[measures]\nuse = ["RR"]\n[report]\nsort_by = "P@1"', "report.sort_by: P@1 is not one of the"),
        ('[report]\nsystem = "x"', "report.system: no run is called 'x'; there are bm25, dense"),
        ('[report]\noutput = "x.pdf"', "report.output: the name of a report must end in .html"),
        ('[report]\nlexicon = "nowhere"', "lexicon: "),
        ("[audit]\ndepth = 0", "audit.depth: must be greater than or equal to 1, got 0"),
        ('[systems]\na = "bm52"', "systems.a: no system is called 'bm52': bm25"),
        ("[systems]\na = 3", "systems.a: must be text in quotes, got 3"),
        ("[engines]\nshop = 3", "engines.shop: must be text"),
        ('[engines.shop]\naddress = "nonsense"', "engines.shop: address: 'nonsense' is neither the address"),
        (
            '[engines.shop]\naddress = "opensearch+http://h:9200/i"\npassword = "x"',
            "engines.shop.password: there is no such key",
        ),
        (
            '[engines.shop]\naddress = "opensearch+http://h:9200/i"\ncredentials = {password = "hunter2"}',
            "credentials: password must be the name of an environment variable that begins with EVENRANK_",
        ),
        ('[engines.shop]\naddress = "nokind+http://h:9200/i"', "engines.shop: there is no engine 'nokind'"),
        ('[engines.shop]\naddress = "opensearch+http://h:9200"', "must end with the name of the index"),
        ('[engines.shop]\naddress = "http://h:99999/i"', "is not an address"),
    ],
)
def test_every_entry_is_looked_at(doctor: Callable[[str], list[str]], written: str, said: str) -> None:
    base = SOUND if "[measures]" not in written else SOUND[: SOUND.index("[measures]")]
    found = doctor(f"{base}\n{written}\n")
    assert len(found) == 1, found
    assert said in found[0]
    assert found[0].startswith("evenrank.toml: ")
    assert "hunter2" not in found[0]


def test_engines_that_are_right_are_no_problem(doctor: Callable[[str], list[str]]) -> None:
    text = (
        '[engines.shop]\naddress = "opensearch+http://h:9200/i"\ncredentials = {api_key = "EVENRANK_KEY"}\n'
        '[engines.other]\naddress = "http://h:9200/i"\n'  # whose kind only the engine could tell
    )
    assert doctor(SOUND + text) == []
    queries = SOUND[SOUND.index("queries = ") :].split("\n")[0]
    assert doctor(f"[data]\n{queries}\n{text}") == []  # an audit needs no run


def test_no_problem_hides_another(doctor: Callable[[str], list[str]]) -> None:
    found = doctor(
        'baseline = "nosuch"\n[data]\nruns = ["*.trec"]\nqrels = "qrels.txt"\nqueries = "asked.csv"\n'
        'by = "nocolumn"\n[groups]\npublisher = "sides.csv:column=zzz"\nother = 3\n'
        '[measures]\nuse = ["nDGC@10"]\n[compare]\nalpha = 7\n[targets]\nelse = "uniform"\n'
    )
    for said in (
        "baseline: no run is called 'nosuch'",
        "by nocolumn: ",
        "zzz",
        "nDGC",
        "alpha",
        "groups.other: must be text",
        "target else: no groups are called 'else'",
    ):
        assert sum(said in line for line in found) == 1, (said, found)
    assert len(found) == 7, "\n".join(found)


def test_a_baseline_needs_another_run(doctor: Callable[[str], list[str]]) -> None:
    (found,) = doctor('baseline = "dense"\n[data]\nruns = ["dense.trec"]\n')
    assert found == ("evenrank.toml: baseline: dense is the only run, so there is nothing to compare with it")


@pytest.mark.parametrize(("command", "place"), [("report", "report.html"), ("debias train", "models")])
def test_a_file_that_was_only_found_writes_through_no_link(
    evenrank: Evenrank, files: Path, command: str, place: str
) -> None:
    elsewhere = files.parent / f"{files.name}-elsewhere"
    elsewhere.mkdir()
    (files / place).symlink_to(elsewhere / "x")
    (files / "evenrank.toml").write_text('[data]\nruns = ["*.trec"]\nqrels = "qrels.txt"\n')
    done = evenrank(*command.split())
    assert done.code == 2
    assert f"{place}: " in done.err
    assert list(elsewhere.iterdir()) == []


def test_a_folder_with_a_link_out_of_it_is_not_written_to(evenrank: Evenrank, files: Path) -> None:
    (files / "audit").mkdir()
    (files / "audit" / "unfinished").symlink_to(files.parent)
    (files / "evenrank.toml").write_text('[data]\nruns = ["*.trec"]\nqrels = "qrels.txt"\n')
    done = evenrank("audit")
    assert done.code == 2
    assert "audit: " in done.err
