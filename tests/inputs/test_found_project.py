"""A project file that was found and not named reads regular files of its folder, and does nothing else."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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
    (ours / "private.trec").write_text("q1 Q0 hidden 1 2.0 x\n")
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


# a place of every kind, at least one in every table: what stands in it is a text, in a list, or a key
PLACES = {
    "baseline": "baseline = {v}",
    "data.runs": "data.runs = [{v}]",
    "data.qrels": "data.qrels = {v}",
    "data.intents": "data.intents = {v}",
    "data.words": "data.words = {v}",
    "data.polarity": "data.polarity = {v}",
    "data.background": "data.background = {v}",
    "data.documents": "data.documents = {v}",
    "data.queries": "data.queries = {v}",
    "data.tables": "data.tables.x = {v}",
    "groups.x": "groups.x = {v}",
    "targets.x": "targets.x = {v}",
    "systems.x": "systems.x = {v}",
    "engines.x": "engines.x = {v}",
    "engines.y.address": "engines.y.address = {v}",
    "engines.y.body": "engines.y.body = {{a = [{v}]}}",
    "measures.use": "measures.use = [{v}]",
    "compare.test": "compare.test = {v}",
    "audit.system": "audit.system = {v}",
    "gate.measures": "gate.measures = {{{v} = 1}}",
    "report.output": "report.output = {v}",
    "debias.model.encoder": "debias.model.encoder = {v}",
    "erase.cache": "erase.cache = {v}",
    "nowhere.at.all": "nowhere.at.all = {v}",
}


def toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_key_takes_a_hostile_value(
    evenrank: Evenrank, folder: Path, listener: SimpleNamespace, kind: str
) -> None:
    value = toml(HOSTILE[kind].format(port=listener.port, ours=folder.parent / "ours"))
    for place, row in PLACES.items():
        (folder / "evenrank.toml").write_text(row.format(v=value))
        done = evenrank("evaluate", "a.trec", "--qrels", "qrels.txt", "-m", "RR")
        assert (done.code, done.out) == (2, ""), place
        assert f" {place}" in done.err
        assert SECRET not in done.err
    assert listener.met == []


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("command", ["evaluate", "audit", "doctor"])
def test_no_command_uses_a_hostile_value(
    evenrank: Evenrank, folder: Path, listener: SimpleNamespace, kind: str, command: str
) -> None:
    value = toml(HOSTILE[kind].format(port=listener.port, ours=folder.parent / "ours"))
    for runs in (f"runs = [{value}]", f"runs = {value}", f'runs = {{{value} = "a.trec"}}'):
        (folder / "evenrank.toml").write_text(f'[data]\n{runs}\nqrels = "qrels.txt"\n')
        done = evenrank(command)
        assert done.code in (1, 2)
        assert "hidden" not in done.out
        assert "unexpected" not in done.out + done.err
        assert "data.runs" in done.out + done.err
    assert listener.met == []


CREDENTIALS = (
    'table = "products"\ntext = ["title"]\ncredentials = {user = "EVENRANK_KEY", password = "EVENRANK_KEY"}'
)
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
@pytest.mark.parametrize("command", ["audit", "retrieve", "counterfactual rank"])
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
        "counterfactual rank": ["docs.jsonl", "queries.csv"],
    }
    done = evenrank(*command.split(), *given[command])
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


RUNS = 'runs = ["a.trec"]\nqrels = "qrels.txt"\n'
ASKED = ("evaluate", "-m", "RR", "--format", "jsonl")


@pytest.mark.parametrize("key", ["sql", "credentials"])
def test_sql_and_variables_are_for_files_that_were_named(evenrank: Evenrank, folder: Path, key: str) -> None:
    value = '"select 1"' if key == "sql" else '{password = "X"}'
    (folder / "s.toml").write_text(f'address = "shop.db"\n{key} = {value}\n')
    for engines in (
        f'[engines.shop]\naddress = "shop.db"\n{key} = {value}\n',
        '[engines]\nshop = "s.toml"\n',
    ):
        (folder / "evenrank.toml").write_text(f"[data]\n{RUNS}{engines}")
        done = evenrank(*ASKED)
        assert done.code == 2
        assert key in done.err
        assert evenrank(*ASKED, "--project", "evenrank.toml").code == 0


@pytest.mark.parametrize("key", ["debias.model.encoder", "debias.distil.teacher", "erase.encoder"])
def test_an_encoder_of_a_hub_is_for_files_that_were_named(evenrank: Evenrank, folder: Path, key: str) -> None:
    (folder / "inner").mkdir()
    for name, code in {
        "owner/name": 2,
        "bert-base-uncased": 2,
        "teacher": 2,
        "minilm": 0,
        "inner": 0,
    }.items():
        (folder / "evenrank.toml").write_text(f'{key} = "{name}"\n[data]\n{RUNS}')
        done = evenrank(*ASKED)
        assert (done.code, key in done.err) == (code, code == 2), name


def test_the_file_itself_is_no_link_that_leads_out(evenrank: Evenrank, folder: Path) -> None:
    (folder.parent / "ours" / "private.toml").write_text('private = "yes"\n')
    (folder / "evenrank.toml").symlink_to(folder.parent / "ours" / "private.toml")
    for command in ("evaluate", "doctor"):
        done = evenrank(command)
        assert done.code in (1, 2)
        assert "private" not in done.out + done.err


def test_files_that_are_read_with_another_are_looked_at_too(evenrank: Evenrank, folder: Path) -> None:
    (folder / "a.trec.system.json").symlink_to(folder.parent / "ours" / "private.trec")
    for runs in ("a.trec", "a*.trec"):
        (folder / "evenrank.toml").write_text(f'[data]\nruns = ["{runs}"]\nqrels = "qrels.txt"\n')
        done = evenrank(*ASKED)
        assert done.code == 2
        assert "data.runs" in done.err


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
def test_texts_that_are_read_as_one_are_refused(evenrank: Evenrank, folder: Path, written: str) -> None:
    """As Python does, the grammar of systems joins them, so that the path would be in no part of the text."""
    text = toml(written).replace("\n", "\\n")
    (folder / "evenrank.toml").write_text(f"[data]\n{RUNS}[systems]\na = {text}\n")
    done = evenrank(*ASKED)
    assert done.code == 2
    assert "systems.a" in done.err


def test_what_lies_in_the_folder_may_be_named(evenrank: Evenrank, folder: Path) -> None:
    """Patterns, folders, links within, paths with blanks, and signs in titles."""
    (folder / "my runs").mkdir()
    for name in ("bm25", "dense"):
        (folder / f"my runs/{name}.trec").write_text("q1 Q0 d1 1 2.0 x\n")
    (folder / "best.trec").symlink_to("my runs/bm25.trec")
    (folder / "evenrank.toml").write_text(
        'baseline = "bm25"\n[data]\nruns = ["my runs/*.trec", "best.trec"]\nlexicon = "gender-en"\n'
        'qrels = "qrels.txt"\n[measures]\nuse = ["RR@10"]\nlabels = {"RR@10" = "Rank, of the first: 10"}\n'
        '[report]\ntitle = "Is it fair? (our search, 2026)"\noutput = "out/report.html"\n'
    )
    done = evenrank("evaluate", "--format", "jsonl")
    assert done.code == 0, done.err
    assert {json.loads(line)["run"] for line in done.out.splitlines()} == {"bm25", "dense", "best"}


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
        done = evenrank("evaluate", "-m", "RR", "--format", "jsonl")
        assert [json.loads(line)["run"] for line in done.out.splitlines()] == ["a"]
    for pattern in (f'["{"**/*" * 390}"]', '["*/../*/../*/../*.trec"]', '["**/x/**/y/**/*.trec"]'):
        (tmp_path / "evenrank.toml").write_text(f"{data}{pattern}\n")
        assert evenrank("evaluate", "-m", "RR").code == 2
