"""A project file that was found and not named reads regular files of its folder, and does nothing else."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from evenrank.errors import DataError, ParameterError
from evenrank.inputs.project import Project
from evenrank.inputs.schema import ProjectFile

Evenrank = Callable[..., SimpleNamespace]
SECRET = "hunter2-of-somebody"


@pytest.fixture
def listener() -> Iterator[SimpleNamespace]:
    """A server on loopback that records what it is sent."""
    heard = bytearray()
    met: list[Any] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                met_now, _ = server.accept()
                met.append(met_now)
                with met_now, suppress(OSError):
                    met_now.settimeout(2)
                    heard.extend(met_now.recv(4096))
                    met_now.sendall(b"N")  # a PostgreSQL server without TLS
                    heard.extend(met_now.recv(4096))
                    met_now.sendall(b"R\0\0\0\x08\0\0\0\x03")  # that asks for the password in cleartext
                    heard.extend(met_now.recv(4096))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield SimpleNamespace(port=server.getsockname()[1], heard=heard, met=met)
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that somebody else wrote, beside a folder with what is ours."""
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "private.trec").write_text("q1 Q0 private 1 2.0 x\n")
    here = tmp_path / "cloned"
    (here / "inside").mkdir(parents=True)
    (here / "a.trec").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n")
    (here / "qrels.txt").write_text("q1 0 d1 1\n")
    (here / "link.trec").symlink_to(ours / "private.trec")
    (here / "inside" / "link.trec").symlink_to(ours / "private.trec")
    (here / "away").symlink_to(ours, target_is_directory=True)
    os.mkfifo(here / "pipe")
    monkeypatch.chdir(here)
    monkeypatch.setenv("EVENRANK_KEY", SECRET)
    return here


HOSTILE = {
    "web": "http://127.0.0.1:{port}/x",
    "sqlite with a host": "sqlite://127.0.0.1:{port}/db",
    "store": "s3://bucket/x.trec",
    "hadoop": "hdfs://127.0.0.1:{port}/x.trec",
    "datasets": "ir_datasets:msmarco-passage",
    "absolute": "{ours}/private.trec",
    "parent": "../ours/private.trec",
    "home": "~/private.trec",
    "link": "link.trec",
    "folder that is a link": "away/private.trec",
    "link in a folder": "inside",
    "link that a pattern matches": "inside/*.trec",
    "pipe": "pipe",
    "device": "/dev/zero",
    "variable": "EVENRANK_KEY",
    "pattern": "/etc/*",
    "behind an option": "a.trec:x={ours}/private.trec",
    "behind a name": "a=link.trec:ties=file",
    "behind an arrow": "bm25>>away/model",
    "in quotes": "Splade(model='{ours}')",
    "in braces": "Splade(model={{../ours,x}})",
    "in brackets": "Splade(model=[{ours}])",
    "in two quotes": "Splade(model='.' './ours')",
    "escaped": "Splade(model='\\x2e\\x2e/ours')",
    "settings": "a.db?sql=select 1",
    "standard input": "-",
    "standard input with options": "a=<stdin>:format=trec",
}


def places(annotation: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a text can stand, by the schema: as a value, in a list, or as the key of a table."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from places(field.annotation, (*path, name))
        return
    origin, inside = getattr(annotation, "__origin__", None), get_args(annotation)
    if origin is dict:
        yield (*path, KEY)
        yield from places(inside[1], (*path, "name"))
    elif origin is tuple:
        yield from places(inside[0], (*path, ITEM))
    elif inside:
        for one in inside:
            yield from places(one, path)
    else:
        yield path


KEY, ITEM = object(), object()
PLACES = list(dict.fromkeys(path for path in places(ProjectFile) if path))


def content_of(path: tuple[Any, ...], value: str) -> Any:
    if not path:
        return value
    if path[0] is KEY:
        return {value: "x"}
    return [content_of(path[1:], value)] if path[0] is ITEM else {path[0]: content_of(path[1:], value)}


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_the_walk_reaches_every_table() -> None:
    assert {path[0] for path in PLACES} == set(ProjectFile.model_fields)
    assert ("engines", "name", "credentials", "password") in PLACES
    assert ("erase", "cache") in PLACES
    assert ("data", "runs", KEY) in PLACES
    assert len(PLACES) > 150


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_key_takes_a_hostile_value(folder: Path, listener: SimpleNamespace, kind: str) -> None:
    value = HOSTILE[kind].format(port=listener.port, ours=folder.parent / "ours")
    for path in PLACES:
        table = content_of(path, value)
        written = "\n".join(f"{key} = {toml(inner)}" for key, inner in table.items())
        (folder / "evenrank.toml").write_text(written)
        with pytest.raises(ParameterError) as caught:
            Project.read("evenrank.toml", named=False)
        assert str(path[0]) in str(caught.value)
        assert SECRET not in str(caught.value)
    assert listener.met == []


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("command", ["evaluate", "audit", "doctor"])
def test_no_command_uses_a_hostile_value(
    evenrank: Evenrank, folder: Path, listener: SimpleNamespace, kind: str, command: str
) -> None:
    value = HOSTILE[kind].format(port=listener.port, ours=folder.parent / "ours")
    (folder / "evenrank.toml").write_text(
        f'[data]\nruns = [{toml(value)}]\nqrels = "qrels.txt"\n[engines]\nx = {toml(value)}\n'
    )
    done = evenrank(command)
    assert done.code in (1, 2)
    assert "private" not in done.out
    assert "unexpected" not in done.out + done.err
    assert "data.runs" in done.out + done.err
    assert listener.met == []


CREDENTIALS = (
    'table = "products"\ntext = ["title"]\ncredentials = {user = "EVENRANK_KEY", password = "EVENRANK_KEY"}'
)
DOCUMENTS = '{"id": "d1", "text": "lamp", "size": "x"}\n{"id": "d2", "text": "mug", "size": "y"}\n'
ATTACKS = {
    "scheme and engine": '[engines.shop]\nengine = "postgresql"\naddress = "sqlite://127.0.0.1:{port}/db"\n'
    + CREDENTIALS,
    "engine file": '[engines]\nshop = "shop.toml"',
    "engine file as a run": '[data]\nruns = ["shop.toml"]',
    "engine file in a system": "[systems]\na = \"Engine(address='shop.toml')\"",
    "store": '[data]\nbackground = "s3://bucket/x"\n[engines]\nshop = "shop.toml"',
    "variable in an address": "[systems]\na = \"Engine(address='http://127.0.0.1:{port}/x?password=EVENRANK_KEY')\"",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("command", ["audit", "retrieve", "counterfactual"])
def test_a_secret_is_sent_nowhere(
    evenrank: Evenrank, folder: Path, listener: SimpleNamespace, attack: str, command: str
) -> None:
    (folder / "queries.csv").write_text("query,text\nq1,lamp\n")
    (folder / "docs.jsonl").write_text(
        '{"id": "d1", "text": "lamp", "size": "x"}\n{"id": "d2", "text": "a", "size": "y"}\n'
    )
    (folder / "shop.toml").write_text(
        f'engine = "postgresql"\naddress = "sqlite://127.0.0.1:{listener.port}/db"\n{CREDENTIALS}\n'
    )
    (folder / "evenrank.toml").write_text(ATTACKS[attack].replace("{port}", str(listener.port)) + "\n")
    given = {
        "audit": ["--queries", "queries.csv", "--documents", "docs.jsonl", "--groups", "size"],
        "retrieve": ["a", "--queries", "queries.csv", "--documents", "docs.jsonl", "-o", "out.trec"],
        "counterfactual": ["--queries", "queries.csv", "--documents", "docs.jsonl"],
    }
    done = evenrank(command, *given[command])
    assert done.code == 2
    assert SECRET not in done.out + done.err
    assert (listener.met, bytes(listener.heard)) == ([], b"")


def test_an_address_and_its_engine_must_agree_also_where_the_file_is_named(
    evenrank: Evenrank, folder: Path, listener: SimpleNamespace
) -> None:
    (folder / "queries.csv").write_text("query,text\nq1,lamp\n")
    (folder / "docs.jsonl").write_text(
        '{"id": "d1", "text": "lamp", "size": "x"}\n{"id": "d2", "text": "a", "size": "y"}\n'
    )
    for engine, address in (
        ("postgresql", f"sqlite://127.0.0.1:{listener.port}/db"),
        ("opensearch", f"sqlite://127.0.0.1:{listener.port}/db"),
        ("sqlite", f"http://127.0.0.1:{listener.port}/db"),
        ("solr", f"opensearch+http://127.0.0.1:{listener.port}/db"),
        ("sqlite", f"sqlite://127.0.0.1:{listener.port}/db"),
    ):
        (folder / "mine.toml").write_text(
            f'[engines.shop]\nengine = "{engine}"\naddress = "{address}"\n{CREDENTIALS}\n'
        )
        done = evenrank(
            "audit", "--project", "mine.toml", "--queries", "queries.csv", "--documents", "docs.jsonl",
            "--groups", "size",
        )  # fmt: skip
        assert done.code == 2, (engine, address)
    assert listener.met == []


@pytest.mark.parametrize("key", ["sql", "credentials"])
def test_sql_and_variables_are_for_files_that_were_named(folder: Path, key: str) -> None:
    value = '"select 1"' if key == "sql" else '{password = "X"}'
    for written in (
        f'[engines.shop]\naddress = "shop.db"\n{key} = {value}\n',
        '[engines]\nshop = "s.toml"\n',
    ):
        (folder / "s.toml").write_text(f'address = "shop.db"\n{key} = {value}\n')
        (folder / "evenrank.toml").write_text(written)
        with pytest.raises(ParameterError, match=key):
            Project.read("evenrank.toml", named=False)
        Project.read("evenrank.toml")


@pytest.mark.parametrize("key", ["debias.model.encoder", "debias.distil.teacher", "erase.encoder"])
def test_an_encoder_of_a_hub_is_for_files_that_were_named(folder: Path, key: str) -> None:
    for name in ("owner/name", "bert-base-uncased", "encoder", "teacher"):
        (folder / "evenrank.toml").write_text(f'{key} = "{name}"\n')
        with pytest.raises(ParameterError, match=key):
            Project.read("evenrank.toml", named=False)
    for name in ("minilm", "inner"):
        (folder / "inner").mkdir(exist_ok=True)
        (folder / "evenrank.toml").write_text(f'{key} = "{name}"\n')
        Project.read("evenrank.toml", named=False)


def test_the_file_itself_is_no_link_that_leads_out(evenrank: Evenrank, folder: Path) -> None:
    (folder.parent / "ours" / "private.toml").write_text('private = "yes"\n')
    (folder / "evenrank.toml").symlink_to(folder.parent / "ours" / "private.toml")
    for command in ("evaluate", "doctor"):
        done = evenrank(command)
        assert done.code in (1, 2)
        assert "private" not in done.out + done.err


def test_files_that_are_read_with_another_are_looked_at_too(folder: Path) -> None:
    (folder / "a.trec.system.json").symlink_to(folder.parent / "ours" / "private.trec")
    for runs in ("a.trec", "a*.trec"):
        (folder / "evenrank.toml").write_text(f'[data]\nruns = ["{runs}"]\n')
        with pytest.raises(ParameterError, match=r"data\.runs"):
            Project.read("evenrank.toml", named=False)


def test_files_of_settings_that_name_each_other_have_an_end(evenrank: Evenrank, folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.toml").write_text(f'[a]\nx = "{number + 1}.toml"\n')
    (folder / "evenrank.toml").write_text('[engines]\nshop = "0.toml"\n')
    done = evenrank("evaluate")
    assert done.code == 2
    assert "engines" in done.err
    assert "unexpected" not in done.err


@pytest.mark.parametrize(
    "written",
    ["Splade(model='.' './ours')", "Splade(model='.'r'./ours')", 'Splade(model="." # to join\n "./ours")'],
)
def test_texts_that_are_read_as_one_are_refused(tmp_path: Path, written: str) -> None:
    """As Python does, the grammar of systems joins them, so that the path would be in no part of the text."""
    text = toml(written).replace("\n", "\\n")
    (tmp_path / "evenrank.toml").write_text(f"[systems]\na = {text}\n")
    with pytest.raises(ParameterError, match=r"systems\.a"):
        Project.read(tmp_path / "evenrank.toml", named=False)


def test_what_lies_in_the_folder_may_be_named(evenrank: Evenrank, tmp_path: Path, monkeypatch: Any) -> None:
    """Patterns, folders, links within, and paths with blanks."""
    monkeypatch.chdir(tmp_path)
    assert evenrank("init", "--demo").code == 0
    (tmp_path / "my runs").mkdir()
    for name in ("bm25", "dense"):
        (tmp_path / f"my runs/{name}.trec").write_text("q1 Q0 d1 1 2.0 x\n")
    (tmp_path / "best.trec").symlink_to("my runs/bm25.trec")
    (tmp_path / "evenrank.toml").write_text(
        'baseline = "bm25"\n[data]\nruns = ["my runs/*.trec", "best.trec:ties=file"]\nlexicon = "gender-en"\n'
        '[measures]\nuse = ["RR@10"]\nlabels = {"RR@10" = "Rank, of the first: 10"}\n'
        '[report]\ntitle = "Is it fair? (our search, 2026)"\noutput = "out/report.html"\n'
    )
    project = Project.read("evenrank.toml", named=False)
    assert project.description().names == ["bm25", "dense", "best"]
    assert project.audit_folder == "audit"


WRONG = {
    "[compare]\nseed = 1" + "0" * 5000: "evenrank.toml",
    "[compare]\nseed = 0x1" + "0" * 5000: "compare.seed",
    "[compare]\nseed = 1" + "0" * 4000: "compare.seed",
    "[targets]\na = {x = 1" + "0" * 400 + "}": "targets.a.x",
    "[targets]\na = [1e999]": "targets.a.0",
    '[engines.a]\naddress = "x.db"\nquery_by = [true]': "engines.a.query_by.0",
    '[engines.a]\naddress = "x.db"\nbody = {since = 1979-05-27}': "engines.a.body.since",
    '[engines.a]\naddress = "x.db"\npaging = {size = "ten"}': "engines.a.paging.size",
    '[engines.a]\naddress = "x.db"\npaging = 3': "engines.a.paging",
    f'[data]\nqrels = "{"n" * 256}"': "data.qrels",
    f'[data.runs]\n{"n" * 256} = "a.trec"': "data.runs",
    f"[engines.{'n' * 256}]\n": "engines",
    '[data]\nwords = "a\\u0000b"': "data.words",
    "[debias]\nseed = 1" + "0" * 4000: "debias.seed",
    "[debias.training]\nlearning_rate = 1" + "0" * 400: "debias.training.learning_rate",
    "[gate.measures.RR]\nallowed = true": "gate.measures.RR.allowed",
    "[report]\ntitle = 3": "report.title",
}


@pytest.mark.parametrize("written", WRONG, ids=lambda text: text[:40])
def test_values_are_typed_before_they_are_used(evenrank: Evenrank, folder: Path, written: str) -> None:
    (folder / "evenrank.toml").write_text(written + "\n")
    for command in ("evaluate", "doctor"):
        done = evenrank(command, *(["--project", "evenrank.toml"]))
        assert done.code == 1
        assert WRONG[written] in done.out + done.err
        assert "unexpected" not in done.err
        assert len(done.err) < 4000


@pytest.mark.parametrize("pattern", ["/etc/host*", "**x/*.trec", "no*such"])
def test_patterns_of_a_named_file_are_files_or_a_plain_error(
    evenrank: Evenrank, folder: Path, pattern: str
) -> None:
    (folder / "evenrank.toml").write_text(f'[data]\nruns = ["{pattern}"]\nqrels = "qrels.txt"\n')
    done = evenrank("evaluate", "--project", "evenrank.toml")
    assert done.code in (1, 2)
    assert "unexpected" not in done.err


def test_every_problem_of_a_file_is_named_at_once(folder: Path) -> None:
    (folder / "evenrank.toml").write_text(
        '[data]\nrunss = 1\nby = 3\n[gate]\nalpa = 1\n[debias.joint]\nepoch = 1\n[engines.a]\nadress = "x"\n'
    )
    with pytest.raises(DataError) as caught:
        Project.read("evenrank.toml")
    lines = str(caught.value).split("\n")
    for place, near in (
        ("data.runss", "runs"), ("gate.alpa", "alpha"), ("debias.joint.epoch", "epochs"),
        ("engines.a.adress", "address"), ("data.by", ""),
    ):  # fmt: skip
        (line,) = (one for one in lines if one.startswith(f"evenrank.toml: {place}: "))
        assert near in line
    assert len(lines) == 5


def test_editors_can_complete_the_file() -> None:
    schema = ProjectFile.model_json_schema()
    assert set(schema["properties"]) == set(ProjectFile.model_fields)
    assert schema["$defs"]["Joint"]["properties"]["epochs"]["default"] == 2.0


def test_lists_that_stand_in_two_places_are_the_same() -> None:
    """What a room checks for Python and what the schema says of the file."""
    from evenrank.cli.audit import KINDS
    from evenrank.cli.significance import CORRECTIONS, TESTS
    from evenrank.comparison.gate import rules
    from evenrank.engines.http_json import ABOUT, HITS, PAGING
    from evenrank.engines.settings import LIMITS
    from evenrank.inputs.engine_table import AboutTable, EngineTable, HitsTable, PagingTable
    from evenrank.inputs.schema import AuditTable, CompareTable, GateTable, MeasureRule
    from evenrank.remote.client import Limits

    def choices(model: type[BaseModel], key: str) -> set[str]:
        found = model.model_fields[key].annotation
        return {one for part in (found, *get_args(found)) for one in get_args(part) if isinstance(one, str)}

    assert choices(AuditTable, "target") == set(KINDS)
    assert choices(CompareTable, "test") == set(TESTS)
    assert choices(CompareTable, "correction") == set(CORRECTIONS)
    assert choices(GateTable, "correction") == set(rules.CORRECTIONS)
    assert choices(GateTable, "unclear") == choices(GateTable, "too_few") == set(rules.OUTCOMES)
    assert set(MeasureRule.model_fields) == set(rules.GateRule.__dataclass_fields__) - {"measure", "column"}
    assert set(HitsTable.model_fields) == set(HITS)
    assert set(PagingTable.model_fields) == set(PAGING)
    assert set(AboutTable.model_fields) == set(ABOUT)
    assert set(Limits.__dataclass_fields__) == set(LIMITS) <= set(EngineTable.model_fields)
    assert all(EngineTable.model_fields[key].default == getattr(Limits(), key) for key in LIMITS)


def test_patterns_go_through_no_link_and_have_an_end(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: Any
) -> None:
    """Links of a folder to itself, through which a pattern would go for ever."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    (tmp_path / "runs/deep/a.trec").write_text("q1 Q0 d1 1 2.0 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    for name in "xyz":
        (tmp_path / name).symlink_to(".")
    data = '[data]\nqrels = "qrels.txt"\nruns = '
    for pattern in ('["**/*.trec"]', '["runs/**/*.trec"]', '["*/*/*.trec"]'):
        (tmp_path / "evenrank.toml").write_text(f"{data}{pattern}\n")
        assert [Path(run.path) for run in Project.read("evenrank.toml", named=False).description().runs] == [
            Path("runs/deep/a.trec")
        ]
        assert evenrank("evaluate", "-m", "RR").code == 0
    for pattern in (f'["{"**/*" * 390}"]', '["*/../*/../*/../*.trec"]', '["**/x/**/y/**/*.trec"]'):
        (tmp_path / "evenrank.toml").write_text(f"{data}{pattern}\n")
        assert evenrank("evaluate", "-m", "RR").code == 2
