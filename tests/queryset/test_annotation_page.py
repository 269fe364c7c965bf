"""The annotation page without a browser: what it asks, what it writes, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import annotation
import pages as payloads
import pytest

from evenrank.queryset import Procedure, decide, read_sheets

pytestmark = pytest.mark.needs("starlette", "uvicorn")
PROCEDURE = Procedure()


@pytest.fixture
def visit() -> Iterator[Callable[[Path], Any]]:
    """Serve the page of a folder, and visit it until the test ends."""
    with ExitStack() as running:
        yield lambda folder: running.enter_context(annotation.visited(folder))


def test_workers_fill_their_sheets_and_only_theirs(tmp_path: Path, visit: Any) -> None:
    paths = annotation.written(tmp_path, 1)
    client = visit(tmp_path)
    assert list(client.addresses) == ["worker1", "worker2", "worker3"]
    for who, labels in {"worker1": "nmn", "worker2": "nmn", "worker3": "nn"}.items():
        for label in labels:
            assert annotation.answer(client, client.addresses[who], answer=label).status_code == 200
    votes = read_sheets(paths, PROCEDURE)
    assert votes.problems == ()
    assert votes.labels["2"] == {"worker1": "m", "worker2": "m", "worker3": "n"}
    assert "All 3 queries are answered" in client.get(client.addresses["worker1"]).text
    assert "2 of 3 queries answered" in client.get(client.addresses["worker3"]).text
    assert [one.why for one in decide(votes, PROCEDURE).decisions][1] == "majority 'm'"


def test_an_expert_is_asked_the_next_question_after_yes_only(tmp_path: Path, visit: Any) -> None:
    paths = annotation.written(tmp_path, 2)
    client = visit(tmp_path)
    address = client.addresses["expert1"]
    assert "Is the query non-gendered?" in client.get(address).text
    assert "socially problematic?" in annotation.answer(client, address, answer="yes").text
    # what is recorded is on disk though the row is not complete, and another server goes on from there
    assert paths[0].read_text().splitlines()[1] == "expert1,1,best school,yes,,,"
    client = visit(tmp_path)
    assert client.addresses["expert1"].rpartition("/")[2] == address.rpartition("/")[2]
    address = client.addresses["expert1"]
    page = annotation.answer(client, address, answer="yes").text
    assert "Violence and Exploitation" in page
    refused = annotation.answer(client, address, reason="roles")
    assert refused.status_code == 422
    assert "Choose at least one domain and write a reason." in refused.text
    assert 'value="roles"' in refused.text  # nothing has to be typed twice
    fields = {"domain-0": "1", "domain-4": "1", "reason": '=roles,\n"why"'}
    assert "Query 2 of 3" in annotation.answer(client, address, **fields).text
    assert "Query 3 of 3" in annotation.answer(client, address, answer="no").text
    votes = read_sheets(paths, PROCEDURE)
    assert votes.problems == ()
    opinion = votes.opinions["1"]["expert1"]
    assert opinion == ((True, True), ("Education", "Social Inequality"), '=roles, "why"')
    assert votes.opinions["2"]["expert1"].answers == (False, None)


def test_an_answer_can_be_given_again_and_a_form_counts_once(tmp_path: Path, visit: Any) -> None:
    path, *_ = annotation.written(tmp_path, 1)
    client = visit(tmp_path)
    address = client.addresses["worker1"]
    page = client.get(address).text
    token = annotation.TOKEN.search(page).group(1)  # type: ignore[union-attr]
    for label in ("m", "f"):  # the same form from two tabs: the first answer stays
        assert client.post(address, data={"token": token, "answer": label}).status_code == 200
    assert [row.split(",")[3] for row in path.read_text().splitlines()[1:]] == ["m", "", ""]
    assert "Label <strong>m</strong>" in client.get(f"{address}?at=1").text
    annotation.answer(client, f"{address}?at=1")  # the button "Answer this query again"
    assert path.read_text().splitlines()[1].endswith(",")
    annotation.answer(client, f"{address}?at=1", answer="o")
    assert path.read_text().splitlines()[1].endswith(",o")


def test_what_is_refused_changes_nothing(tmp_path: Path, visit: Any) -> None:
    path, *_ = annotation.written(tmp_path, 1)
    before = path.read_bytes()
    client = visit(tmp_path)
    address = client.addresses["worker1"]
    assert annotation.answer(client, address, answer="x").status_code == 422
    assert annotation.answer(client, address).status_code == 422
    assert client.post(address, data={"answer": "n"}).status_code == 403  # no token
    page = client.get(client.addresses["worker2"]).text
    token = annotation.TOKEN.search(page).group(1)  # type: ignore[union-attr]
    home = "/".join(address.split("/")[:3])
    assert client.get(home).status_code == client.get(f"{home}/worker1").status_code == 404
    wrong = client.post(address, data={"token": token, "answer": "n"})  # the form of another annotator
    assert wrong.status_code == 403
    with annotation.visited(tmp_path) as other:  # which another server knows as well, but not in this session
        stranger = other.addresses["worker1"]
        assert other.post(stranger, data={"token": token, "answer": "n"}).status_code == 403
    cross = client.post(
        address, data={"token": token, "answer": "n"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert cross.status_code == 403
    assert path.read_bytes() == before
    assert client.get(f"{address}?at=99").status_code == 200
    for name, expected in (("Content-Security-Policy", "default-src 'none'"), ("X-Frame-Options", "DENY")):
        assert client.get(address).headers[name].startswith(expected)
    (tmp_path / "stage1-worker1.csv").write_text("annotator,query\n")  # damaged while it is served
    assert client.get(address).status_code == 503


def test_query_texts_are_text(tmp_path: Path, visit: Any) -> None:
    texts = {f"{place} {payload}": payload for place, payload in enumerate(payloads.PAYLOADS)}
    annotation.written(tmp_path, 1, texts)
    client = visit(tmp_path)
    address = client.addresses["worker1"]
    structures = set()
    for place in range(1, len(texts) + 1):
        page = client.get(f"{address}?at={place}").text
        body = re.sub(r'value="[^"]*"|\d+', "", page)
        structures.add(re.sub(r">[^<]*<", "><", body))
    # the pages differ in nothing but texts, and in the link that the first and the last one lack
    assert len(structures) == 2
    root = payloads.parsed_content(client.get(f"{address}?at=2").content)
    assert {element.tag.rpartition("}")[2] for element in payloads.elements(root)} <= PLAIN
    for label in "nm" * len(texts):
        if "queries are answered" in annotation.answer(client, address, answer=label).text:
            break
    votes = read_sheets([tmp_path / "stage1-worker1.csv"], PROCEDURE)
    assert votes.problems == ()
    assert len(votes.labels) == len(texts)


PLAIN = {
    "html", "head", "meta", "title", "link", "script", "body", "header", "main", "p", "h1", "bdi", "form",
    "input", "fieldset", "legend", "div", "label", "span", "button", "footer", "nav", "a", "ul", "li",
    "strong",
}  # fmt: skip


def test_folders_and_addresses_that_cannot_be_used(tmp_path: Path, evenrank: Any) -> None:
    def refused(folder: Path, address: str = "127.0.0.1:0") -> str:
        done = evenrank("queryset", "page", folder, address)
        assert done.code in (1, 2)
        said: str = done.err
        return said

    assert str(tmp_path / "none") in refused(tmp_path / "none")
    (tmp_path / "queries.csv").write_text("query,text\n1,a\n")
    assert str(tmp_path) in refused(tmp_path)
    one, *_ = annotation.written(tmp_path, 1)
    (tmp_path / "model.csv").write_text("annotator,query,text,label\nmodel:x,1,a,n\n")
    with annotation.served(tmp_path) as addresses:  # neither of a model nor of what is no sheet
        assert [*addresses] == ["worker1", "worker2", "worker3"]
    assert re.fullmatch(r"[0-9a-f]{64}", (tmp_path / "page.key").read_text())
    assert (tmp_path / "page.key").stat().st_mode & 0o077 == 0
    (tmp_path / "again.csv").write_bytes(one.read_bytes())
    said = refused(tmp_path)
    assert "worker1" in said
    assert "again.csv" in said
    (tmp_path / "again.csv").write_text("annotator,query,text,label\na,1,x,\nb,1,x,\n")
    assert "again.csv" in refused(tmp_path)
    (tmp_path / "again.csv").unlink()
    assert "0.0.0.0:8000" in refused(tmp_path, "0.0.0.0:8000")
