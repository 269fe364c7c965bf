"""Credentials: named in settings, taken from the environment, and in no file or message."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from echoes import KEY, echoed, leaks
from misbehaving import Asked, MisbehavingServer, Still

from evenrank.engines import ask, open_engine, plan
from evenrank.errors import EvenrankError, EvenrankWarning, ParameterError, RemoteError

ENVIRONMENT = {"EVENRANK_USER": "me", "EVENRANK_KEY": KEY, "EVENRANK_DIGITS": "8675309"}
CREDENTIALS = {
    "bearer": {"bearer": "EVENRANK_KEY"},
    "password": {"user": "EVENRANK_USER", "password": "EVENRANK_KEY"},
}


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer().running() as made:
        yield made


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


@pytest.mark.parametrize("use", CREDENTIALS)
def test_a_server_that_repeats_the_credentials_in_whatever_it_says(
    server: MisbehavingServer, use: str, tmp_path: Path
) -> None:
    """In ids, fields and names of fields, in errors and redirects, in every way of writing it."""
    sent: list[str] = []

    def secret(asked: Asked) -> str:
        sent.append(asked.authorization)
        plain = asked.authorization.partition(" ")[2]
        if use == "password":
            plain = base64.b64decode(plain).decode().removeprefix("me:")
        assert plain == KEY  # it was sent
        return f"{asked.authorization} {echoed(plain)}"

    def fields(asked: Asked) -> None:
        text = secret(asked)
        hits = [{"id": f"d {KEY}", "score": 1.0, "seller": KEY, KEY: text, "long": text}]
        asked.send({"hits": hits, "total": 1, "echo": text})

    def in_escapes(asked: Asked) -> None:
        asked.send(f'{{"hits": [{{"id": "{escaped(secret(asked))}"}}]}}'.encode())

    server.behaviours = {
        "fields": fields,
        "escapes": in_escapes,
        "error": lambda asked: asked.send({"error": secret(asked)}),
        "refused": lambda asked: asked.send(secret(asked).encode(), 400),
        "busy": lambda asked: asked.send(secret(asked).encode(), 503),
        "no list": lambda asked: asked.send({"hits": secret(asked)}),
        "away": lambda asked: asked.send(b"", 307, Location=f"http://me:{secret(asked)[:90]}@localhost:9/"),
    }
    queries = {f"q{at}": name for at, name in enumerate(server.behaviours)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = server.engine(retries=1, credentials=CREDENTIALS[use])
        engine = open_engine(table, clock=Still(), environment=ENVIRONMENT)
        answers = ask(engine, queries, log=tmp_path)
        told = [repr(engine), repr(answers), answers.describe_problems(), str(answers.provenance)]
        told += [plan(engine, {**queries, "key": KEY}).describe(99), str(answers.run.to_dict())]
        told += [str(answers.documents.to_pylist()), *(str(warning.message) for warning in caught)]
    assert len(set(sent)) == 1
    assert sorted(answers.unanswered) == ["q2", "q3", "q4", "q5", "q6"]
    assert answers.run.documents("q0") == ["d ***"]
    assert answers.documents["seller"][0].as_py() == "***"
    assert list(tmp_path.iterdir())
    assert leaks(tmp_path, *told) == []


def test_opensearch_repeats_the_credentials_beside_its_hits(tmp_path: Path) -> None:
    """The text of its answers is kept as it came."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if "_msearch" not in request.url.path:
            return httpx2.Response(403, json={"error": echoed(KEY)})
        hit = {"_id": f"d {KEY}", "_score": 1.0, "_source": {"seller": KEY}}
        bad = {"error": {"reason": echoed(KEY)}, "status": 400}
        good = {"hits": {"total": {"value": 1}, "hits": [hit]}, "more": echoed(KEY)}
        return httpx2.Response(200, content=json.dumps({"took": 1, "responses": [good, bad]}).encode())

    table = {"address": "opensearch+http://localhost:1/x", "rate": 1e9, "credentials": CREDENTIALS["bearer"]}
    engine = open_engine(table, transport=httpx2.MockTransport(answer), environment=ENVIRONMENT)
    answers = ask(engine, {"q": "a", "r": "b"}, log=tmp_path)
    assert (answers.run.documents("q"), answers.unanswered) == (["d ***"], ["r"])
    assert leaks(tmp_path, answers.describe_problems(), str(answers.documents.to_pylist())) == []


def test_a_secret_of_digits_leaves_numbers_too(server: MisbehavingServer) -> None:
    hits = [{"id": 8675309, "size": 86753, "price": 8675309, "text": "8675309"}]
    server.behaviours = {"x": lambda asked: asked.send({"hits": hits})}
    table = server.engine(credentials={"api_key": "EVENRANK_DIGITS"})
    answers = ask(open_engine(table, environment=ENVIRONMENT), {"q": "x"}, keep_texts=True)
    assert answers.documents.to_pylist() == [{"id": "***", "price": "***", "size": 86753, "text": "***"}]


@pytest.mark.parametrize("key", ["Pläin", "two\nlines"])
def test_a_key_that_no_header_can_hold_is_not_shown(key: str) -> None:
    table = {"engine": "http", "address": "http://127.0.0.1:9/x", "body": {"q": "{query}"}, "retries": 0}
    engine = open_engine(
        {**table, "credentials": {"bearer": "EVENRANK_KEY"}}, environment={"EVENRANK_KEY": key}
    )
    try:
        shown = ask(engine, {"q": "x"}).describe_problems()
    except (ParameterError, RemoteError) as error:
        shown = str(error)
    assert shown
    assert key not in shown


def test_userinfo_of_an_address_is_left_out_and_not_repeated() -> None:
    with pytest.warns(EvenrankWarning, match="EVENRANK_PASSWORD") as caught:
        engine = open_engine("opensearch+https://me:hunter2@host:9200/shop?rate=3")
    asked = plan(engine, {"q": "x"})
    assert asked.address == "https://host:9200/shop"
    assert "hunter2" not in str(caught[0].message) + repr(engine) + asked.describe(9)


@pytest.mark.parametrize(
    "wrong",
    [
        "http://me:hunter2@host:99999/x",
        "http://me:hunter2@/x",
        "http://a:hunter2@h/#f",
        "http://a:1/hunter2@h/x",
        "opensearch+http://h/x?password=hunter2",
        {"address": "opensearch+http://h/x", "headers": {"Authorization": "hunter2"}},
        {"address": "opensearch+http://h/x", "parameters": {"api_key": "hunter2"}},
        {"address": "opensearch+http://h/x", "credentials": {"password": "hunter2"}},
    ],
)
def test_what_is_no_engine_is_not_repeated_with_its_password(wrong: Any) -> None:
    with pytest.raises(EvenrankError) as caught:
        open_engine(wrong)
    assert "hunter2" not in str(caught.value)


def test_only_variables_of_ours_are_read() -> None:
    """An engine file of somebody else cannot send the rest of the environment to its server."""
    table = {"address": "opensearch+https://host/shop"}
    for name in ("HOME", "AWS_SECRET_ACCESS_KEY", "EVENRANK_"):
        with pytest.raises(ParameterError, match="password"):
            open_engine({**table, "credentials": {"password": name}}, environment={name: "x"})
    with pytest.raises(ParameterError, match="EVENRANK_KEY"):
        open_engine({**table, "credentials": {"api_key": "EVENRANK_KEY"}}, environment={})
