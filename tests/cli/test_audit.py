"""The command ``audit``: what it prints, what it asks, and what it refuses to ask."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard
from misbehaving import Asked, MisbehavingServer
from small_shop import write_small_shop

Evenrank = Callable[..., SimpleNamespace]

KNOWN = ["--queries", "queries.csv", "--documents", "products.jsonl", "--groups", "seller_size"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)  # reports take seconds
    return tmp_path


def test_an_engine_that_fails_too_often_makes_no_audit_and_is_asked_only_the_rest_again(
    evenrank: Evenrank, shop: Path
) -> None:
    texts = [f"text {n}" for n in range(40)]
    (shop / "asked.csv").write_text(
        "query,text\n" + "".join(f"q{n},{text}\n" for n, text in enumerate(texts))
    )
    asked, failing = list[str](), {*texts[:5]}

    def behave(text: str) -> Callable[[Asked], None]:
        def answer(one: Asked) -> None:
            asked.append(text)
            if text in failing:
                one.send({"error": "gone"}, 400)
            else:
                one.send({"hits": [{"id": f"p{n}", "score": 9 - n} for n in range(9)], "total": 9})

        return answer

    with MisbehavingServer({text: behave(text) for text in texts}).running() as server:
        (shop / "web.toml").write_text(
            f'engine = "http"\naddress = "{server.address}/search"\nrate = 1000\n'
            'body = { q = "{query}" }\n'
        )
        call = ["audit", "web.toml", "--queries", "asked.csv", *KNOWN[2:]]
        found = evenrank(*call)
        assert (found.code, found.out) == (1, "")
        assert "5 of 40" in found.err
        assert [path.name for path in (shop / "audit").iterdir()] == ["unfinished"]
        failing.clear()
        asked.clear()
        found = evenrank(*call)
    assert found.code == 0, found.err
    assert sorted(asked) == texts[:5]


def test_a_stricter_gate_has_a_wider_interval_of_the_same_share(evenrank: Evenrank, shop: Path) -> None:
    evenrank("audit", "shop.toml", *KNOWN)
    (run,) = (shop / "audit").glob("2*/runs/shop.trec")
    rows = []
    for alpha in ("0.05", "0.01"):
        rule = f"[gate.measures.\"GroupShare(attr='seller_size')@5[small]\"]\nfloor = 0.1\nalpha = {alpha}\n"
        (shop / "evenrank.toml").write_text(PROJECT + rule)
        rows.append(json.loads(evenrank("gate", run, "--format", "jsonl").out))
    usual, strict = rows
    assert strict["low"] < usual["low"] < usual["value"] == strict["value"]
    assert strict["value"] < usual["high"] < strict["high"]


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


def test_evaluate_prints_numbers_and_no_verdict(evenrank: Evenrank, shop: Path) -> None:
    audit = evenrank("audit", "shop.toml", *KNOWN)
    (run,) = (shop / "audit").glob("2*/runs/shop.trec")
    found = evenrank("evaluate", run, *KNOWN)
    assert (found.code, "favoured" in audit.out, "favoured" in found.out + found.err) == (0, True, False)


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


def test_latest_leads_to_the_last_audit(evenrank: Evenrank, shop: Path) -> None:
    rule = "GroupShare(attr='seller_size', attention=log2)@10[small]"
    (shop / "evenrank.toml").write_text(PROJECT + f'[gate]\nlimits = ["{rule} >= 0.01"]\n')
    first = evenrank("audit", "shop.toml").out
    assert "since 2" not in first
    second = evenrank("audit", "shop.toml").out
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
