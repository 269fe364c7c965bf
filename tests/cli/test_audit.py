"""The command ``audit``: what it prints, what it asks, and what it refuses to ask."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from misbehaving import Asked, MisbehavingServer
from small_shop import write_small_shop

from evenrank.cli import build_parser
from evenrank.verdict import describe
from evenrank.verdict.sentences import percent

Evenrank = Callable[..., SimpleNamespace]

KNOWN = ["--queries", "queries.csv", "--documents", "products.jsonl", "--groups", "seller_size"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evenrank.audit.making._write_report", lambda *_: False)  # it takes seconds
    return tmp_path


def test_it_prints_who_is_favoured(evenrank: Evenrank, shop: Path) -> None:
    found = evenrank("audit", "shop.toml", *KNOWN)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert lines[0].startswith("seller_size: small is 60%")
    assert len(lines) <= 14
    (folder,) = (shop / "audit").glob("2*")
    assert lines[-1] == f"wrote audit/{folder.name}/summary.json"
    assert "pip install '.[report]'" in found.err
    named = evenrank("audit", "mine=shop.db", *KNOWN, "-o", "other", "--target", "equal")
    assert named.code == 0, named.err
    assert "an equal share of large is 50%" in " ".join(named.out.split())
    assert [path.name for path in (shop / "other").glob("2*/runs/*")] == ["mine.trec"]


def test_a_dry_run_asks_and_writes_nothing(
    evenrank: Evenrank, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr("evenrank.engines.sqlite.SqliteEngine.fetch", refuse)
    found = evenrank("audit", "shop.toml", *KNOWN, "--dry-run")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("shop at ")
    assert "48 requests for 48 queries" in found.out
    assert found.out.count("select id") == 1
    assert found.out.endswith("queries: red lamp; red chair; red mug; and 45 more\n")
    assert evenrank("audit", "shop.toml", *KNOWN, "--dry-run", "--notes").out.count("select id") == 48
    assert not (shop / "audit").exists()
    (shop / "run.trec").write_text("q0 Q0 p1 1 1 x\n")
    assert evenrank("audit", "run.trec", *KNOWN, "--dry-run").out == "no request for: run\n"


PROJECT = """[data]
documents = "products.jsonl"
queries = "queries.csv"
[groups]
seller_size = "documents"
"""


def test_a_project_that_is_named_needs_no_further_option(evenrank: Evenrank, shop: Path) -> None:
    engine = (shop / "shop.toml").read_text()
    (shop / "evenrank.toml").write_text(
        PROJECT
        + '[audit]\noutput = "audits"\ndepth = 40\n[engines.shop]\n'
        + engine.replace('name = "shop"\n', "")
    )
    assert evenrank("audit").code == 2  # SQL of a file that nobody named
    trusted = ("--project", "evenrank.toml")
    found = evenrank("audit", *trusted)
    assert found.code == 0, found.err
    assert found.out.startswith("seller_size: small is 60%")
    (folder,) = (shop / "audits").glob("2*")
    runs = (folder / "runs/shop.trec").read_text().split("\n")
    assert max(int(line.split()[3]) for line in runs if line) == 40
    assert evenrank("audit", "shop", "--dry-run", *trusted).out.startswith("shop at ")
    (shop / "evenrank.toml").write_text(PROJECT + '[audit]\ntarget = "fair"\n')
    wrong = evenrank("audit", "shop.toml")
    assert (wrong.code, "audit.target: must be 'catalogue', 'candidates' or 'equal'" in wrong.err) == (
        1,
        True,
    )


def test_a_found_project_file_never_causes_a_request(evenrank: Evenrank, shop: Path) -> None:
    address = "opensearch+http://127.0.0.1:9/products"
    (shop / "evenrank.toml").write_text(PROJECT + f'[engines.far]\naddress = "{address}"\n')
    for words in (["audit"], ["audit", "--dry-run"], ["audit", "far"]):
        found = evenrank(*words)
        assert found.code == 2
        assert "engines.far.address" in found.err
        assert "--project" in found.err
    assert not (shop / "audit").exists()
    named = evenrank("audit", "--project", "evenrank.toml", "--dry-run")
    assert named.code == 0
    assert "127.0.0.1:9" in named.out


def test_what_is_missing_is_said(evenrank: Evenrank, shop: Path) -> None:
    found = evenrank("audit")
    assert (found.code, "needs the address of an engine or a run file" in found.err) == (2, True)
    found = evenrank("audit", "shop.toml", "--groups", "seller_size")
    assert (found.code, "needs queries to be asked: --queries FILE" in found.err) == (2, True)
    found = evenrank("audit", "shop.toml", *KNOWN, "-o", "products.jsonl")
    assert found.code == 2
    found = evenrank("audit", "shop.toml", *KNOWN, "--target", "fair")
    assert found.code == 2


def test_a_dead_engine_makes_no_audit(
    evenrank: Evenrank, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenrank.engines.sqlite import SqliteEngine
    from evenrank.errors import RemoteError

    whole = SqliteEngine.fetch

    def dies(engine: SqliteEngine, texts: Any, *more: Any) -> Any:
        found = whole(engine, texts, *more)
        return [
            RemoteError("gone") if "lamp" in text else one for text, one in zip(texts, found, strict=True)
        ]

    monkeypatch.setattr(SqliteEngine, "fetch", dies)
    found = evenrank("audit", "shop.toml", *KNOWN)
    assert (found.code, found.out) == (1, "")
    assert "of 48 queries got no answer, more than 10%, so no audit was made" in found.err
    assert "kept in audit/unfinished, and the same command asks only the other queries again" in found.err
    assert [path.name for path in (shop / "audit").iterdir()] == ["unfinished"]
    monkeypatch.setattr(SqliteEngine, "fetch", whole)
    assert evenrank("audit", "shop.toml", *KNOWN).code == 0


def test_its_options_are_few() -> None:
    (commands,) = (action.choices for action in build_parser()._actions if isinstance(action.choices, dict))
    own = [action for action in commands["audit"]._actions if action.option_strings]
    assert len(own) - 1 <= 10  # without --help


def test_the_default_answers_name_a_favoured_group(evenrank: Evenrank, shop: Path) -> None:
    evenrank("audit", "shop.toml", *KNOWN)
    (run,) = (shop / "audit").glob("2*/runs/shop.trec")
    found = evenrank("evaluate", run, *KNOWN)
    assert found.code == 0, found.err
    line, _, other = found.out.splitlines()[-3:]
    assert line.startswith(
        "seller_size: small is 60% of the catalogue but gets 7.7% of the attention in the first 10 places"
    )
    assert line.endswith("large is favoured: 2.3 times its share.")
    assert other == (
        "The table holds seller_size against the target equal, the sentence above against catalogue: "
        "--target seller_size=catalogue takes the same for both."
    )
    same = evenrank("evaluate", run, *KNOWN, "--target", "seller_size=catalogue")
    assert same.out.splitlines()[-1] == line
    chosen = evenrank("evaluate", run, *KNOWN, "-m", "GF@10")
    assert "favoured" not in chosen.out
    assert "favoured" not in evenrank("evaluate", run, *KNOWN, "--format", "tsv").out
    both = evenrank("evaluate", run, f"again={run}", *KNOWN)
    assert both.out.splitlines()[-3].startswith("shop, seller_size: small is 60%")


def test_an_attribute_without_a_verdict_is_named(evenrank: Evenrank, shop: Path) -> None:
    rows = "".join(f"p{number},brand {number % 70}\n" for number in range(400))
    (shop / "brands.csv").write_text("document,brand\n" + rows)
    (shop / "run.csv").write_text("query,document\n" + "".join(f"q0,p{n}\n" for n in range(20)))
    known = [*KNOWN, "--groups", "brand=brands.csv"]
    expected = "brand: no verdict: it has 70 groups, and a verdict takes at most 64"
    assert expected in evenrank("audit", "run.csv", *known).err
    assert expected in evenrank("evaluate", "run.csv", *known).out


@pytest.mark.slow
def test_the_report_names_a_favoured_group(evenrank: Evenrank, shop: Path) -> None:
    evenrank("audit", "shop.toml", *KNOWN)
    (run,) = (shop / "audit").glob("2*/runs/shop.trec")
    assert evenrank("report", run, *KNOWN).code == 0
    page = (shop / "report.html").read_text(encoding="utf-8")
    assert "small is 60% of the catalogue but gets 7.7% of the attention in the first 10 places" in page
    assert evenrank("report", run, *KNOWN, "-m", "GF@10").code == 0  # whatever is measured
    again = (shop / "report.html").read_text(encoding="utf-8")
    assert "small is 60% of the catalogue but gets 7.7% of the attention in the first 10 places" in again


@pytest.mark.slow
def test_no_password_is_in_any_file_or_message(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine repeats the credentials in its answers; one query fails, and the address has them too."""
    password = "hush-hush-17"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENRANK_PASSWORD", password)
    (tmp_path / "queries.csv").write_text("query,text\n" + "".join(f"q{n},text {n}\n" for n in range(40)))

    def echo(asked: Asked) -> None:
        plain = base64.b64decode(asked.authorization.removeprefix("Basic ")).decode()
        hits = [{"id": f"d{n}", "score": 9 - n, "seller": ("a", "b")[n % 2], "seen": plain} for n in range(9)]
        asked.send({"hits": hits, "total": 9, "seen": plain})

    behaviours = {f"text {n}": echo for n in range(40)}
    behaviours["text 3"] = lambda asked: asked.send({"error": f"who is me:{password}?"}, 400)
    with MisbehavingServer(behaviours).running() as server:
        address = server.address.replace("http://", f"http://me:{password}@")
        (tmp_path / "evenrank.toml").write_text(
            '[data]\nqueries = "queries.csv"\n[groups]\nseller = "documents"\n'
            '[engines.shop]\nengine = "http"\n'
            f'address = "{server.address}/search"\nrate = 1000\nbody = {{ q = "{{query}}" }}\n'
            'credentials = { user = "EVENRANK_USER", password = "EVENRANK_PASSWORD" }\n'
        )
        monkeypatch.setenv("EVENRANK_USER", "me")
        found = evenrank("audit", "--project", "evenrank.toml", "--notes")
        direct = evenrank("audit", f"http+{address}/search", "--no-project", "--queries", "queries.csv")
    assert found.code == 0, found.err
    assert "1 query has no answer (q3)" in found.err
    assert direct.code != 0
    secret = [password, base64.b64encode(f"me:{password}".encode()).decode()]
    texts = {"out": found.out, "err": found.err, "direct": direct.out + direct.err}
    for path in (tmp_path / "audit").rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            if path.suffix == ".zst":
                raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
            texts[str(path)] = raw.decode("utf-8", "replace")
    assert any(name.endswith("report.html") for name in texts)
    assert [name for name, text in texts.items() if any(form in text for form in secret)] == []


@pytest.mark.parametrize(
    "address",
    [
        "me:S3CRETXY@127.0.0.1:9200/shop",
        "shop=me:S3CRETXY@127.0.0.1:9200/shop",
        "opensearch+http//me:S3CRETXY@127.0.0.1:9200/shop",
        "opensearch+http:/me:S3CRETXY@127.0.0.1:9200/shop",
        "opensearch:me:S3CRETXY@127.0.0.1:9200/shop?rate=3",
        "S3CRETXY@127.0.0.1:9200/shop",
        "me:S3CRETXY/+@127.0.0.1:9200/shop",
        "me:S3CRETXY@127.0.0.1/shop.db",
        "me:S3CRETXY@127.0.0.1/shop.toml",
        "me:S3CRETXY@127.0.0.1/shop.csv:depth=10",
    ],
)
def test_an_address_without_its_scheme_shows_no_password(
    evenrank: Evenrank, shop: Path, address: str
) -> None:
    engine = address.removeprefix("shop=")
    (shop / "evenrank.toml").write_text(PROJECT + f'[engines]\nshop = "{engine}"\n')
    (shop / "wrong.toml").write_text(f'address = "{engine}"\nengine = "opensearch"\n')
    for words in (
        ["audit", address, *KNOWN, "--no-project"],
        ["audit", address, *KNOWN, "--no-project", "--dry-run", "--notes"],
        ["audit", "--project", "evenrank.toml"],
        ["audit", "wrong.toml", *KNOWN, "--no-project"],
        ["doctor"],
        ["evaluate", address, "--no-project"],
    ):
        found = evenrank(*words)
        assert found.code in (1, 2), (words, found.out)
        assert "S3CRETXY" not in found.out + found.err, words
    assert "127.0.0.1" in evenrank("audit", address, *KNOWN, "--no-project").err


def test_a_run_with_an_at_sign_is_named_as_it_is(evenrank: Evenrank, shop: Path) -> None:
    assert "bm25@10.trec: no such file" in evenrank("audit", "bm25@10.trec", *KNOWN).err


@pytest.mark.parametrize("name", ["token", "apikey", "sig", "client_key", "access-token", "Signature", "pwd"])
def test_a_secret_among_the_parameters_is_refused(evenrank: Evenrank, shop: Path, name: str) -> None:
    (shop / "web.toml").write_text(
        f'engine = "http"\naddress = "http://127.0.0.1:9/search"\n[parameters]\n{name} = "S3CRETXY"\n'
        'q = "{query}"\n'
    )
    found = evenrank("audit", "web.toml", *KNOWN, "--dry-run", "--notes")
    assert (found.code, found.out) == (2, "")
    assert f"parameters: {name} looks like a secret" in found.err
    assert "[credentials]" in found.err
    assert "S3CRETXY" not in found.err


def test_parameters_that_only_look_like_secrets_are_sent(evenrank: Evenrank, shop: Path) -> None:
    (shop / "web.toml").write_text(
        'engine = "http"\naddress = "http://127.0.0.1:9/search"\n[parameters]\nkeywords = "{query}"\n'
        'keyword_mode = "all"\nauthor = "any"\ntokenizer = "plain"\nsort_key = "price"\nkey = "{query}"\n'
    )
    found = evenrank("audit", "web.toml", *KNOWN, "--dry-run")
    assert found.code == 0, found.err


def test_gate_and_audit_have_one_interval_for_one_share(evenrank: Evenrank, shop: Path) -> None:
    """Also where the audit has several attributes, so that every interval is wider for the others."""
    from evenrank.audit.summary import AuditSummary

    rule = "GroupShare(attr='seller_size', attention=log2)@10[small]"
    (shop / "evenrank.toml").write_text(
        PROJECT + f'colour = "documents"\n[gate]\nlimits = ["{rule} >= 0.3", "{rule} <= 0.9"]\n'
    )
    assert evenrank("audit", "shop.toml").code == 0
    (folder,) = (shop / "audit").glob("2*")
    audited = {one.attribute: one for one in AuditSummary.read(folder / "summary.json").verdicts}
    small = audited["seller_size"].group("small")
    found = evenrank("gate", folder / "runs/shop.trec", "--format", "jsonl")
    row = json.loads(found.out)
    assert (row["low"], row["high"]) == pytest.approx((small.share_low, small.share_high), abs=1e-12)
    assert describe(audited["seller_size"]) in found.err
    table = evenrank("gate", folder / "runs/shop.trec").out
    assert "bounds: the 95% interval of the verdict on the share" in table


def test_the_interval_of_a_share_is_that_of_its_attention_and_its_alpha(
    evenrank: Evenrank, shop: Path
) -> None:
    (shop / "evenrank.toml").write_text(
        PROJECT + "[gate.measures.\"GroupShare(attr='seller_size')@5[small]\"]\nfloor = 0.1\nalpha = 0.01\n"
    )
    evenrank("audit", "shop.toml")
    (run,) = (shop / "audit").glob("2*/runs/shop.trec")
    found = evenrank("gate", run, "--format", "jsonl")
    row = json.loads(found.out)
    low, high = (percent(row[end]).removesuffix("%") for end in ("low", "high"))
    assert f"gets {percent(row['value'])} of the first 5 places (99% interval {low} to {high})" in found.err


def test_latest_leads_to_the_last_audit(evenrank: Evenrank, shop: Path) -> None:
    rule = "GroupShare(attr='seller_size', attention=log2)@10[small]"
    (shop / "evenrank.toml").write_text(PROJECT + f'[gate]\nlimits = ["{rule} >= 0.01"]\n')
    first = evenrank("audit", "shop.toml").out
    assert "since 2" not in first
    second = evenrank("audit", "shop.toml").out
    assert len(second.splitlines()) <= 14
    (since,) = [line for line in second.splitlines() if line.startswith("since 2")]
    shares = re.findall(r"(\S+% \(\S+ to \S+\))", since)
    assert len(shares) == 2
    assert shares[0] == shares[1]  # the same engine was asked
    folders = sorted(path.name for path in (shop / "audit").glob("2*"))
    assert (shop / "audit/latest").readlink() == Path(folders[-1])
    gated = evenrank("gate")
    assert gated.code == 0, gated.err
    assert "evenrank: of the last audit: audit/latest/runs/shop.trec\n" in gated.err


def test_an_engine_is_called_as_its_file(evenrank: Evenrank, shop: Path) -> None:
    (shop / "ours.toml").write_text((shop / "shop.toml").read_text().replace('name = "shop"\n', ""))
    assert evenrank("audit", "ours.toml", *KNOWN).code == 0
    assert [path.name for path in (shop / "audit/latest/runs").iterdir()] == ["ours.trec"]


def test_ctrl_c_says_what_is_kept(evenrank: Evenrank, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenrank.engines.sqlite import SqliteEngine

    whole, asked = SqliteEngine.fetch, list[str]()

    def interrupted(engine: SqliteEngine, texts: Any, *more: Any) -> Any:
        if len(asked) == 7:
            raise KeyboardInterrupt
        asked.extend(texts)
        return whole(engine, texts, *more)

    monkeypatch.setattr(SqliteEngine, "fetch", interrupted)
    found = evenrank("audit", "shop.toml", *KNOWN)
    assert (found.code, found.out) == (130, "")
    assert "interrupted; 7 of 48 queries kept in audit/unfinished/shop: the same command goes on" in found.err
    monkeypatch.setattr(SqliteEngine, "fetch", lambda engine, texts, *more: (
        asked.extend(texts), whole(engine, texts, *more))[1])  # fmt: skip
    assert evenrank("audit", "shop.toml", *KNOWN).code == 0
    assert len(asked) == len(set(asked)) == 48


def test_the_report_is_told_the_command_without_passwords(
    evenrank: Evenrank, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        "evenrank.audit.making._write_report", lambda _, request, *rest: bool(seen.append(request.command))
    )
    words = ["audit", "shop.toml", *KNOWN]
    assert evenrank(*words).code == 0
    assert seen == [f"evenrank {' '.join(words)}"]
