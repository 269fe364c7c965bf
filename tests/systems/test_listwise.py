"""The language model as a re-ranker: windows, malformed answers, what is kept, and a server that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chat_server import Call, ChatServer
from echoes import KEY, echoed, leaks
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError
from evenrank.cli import main
from evenrank.errors import RemoteError
from evenrank.systems import make_system

pytestmark = pytest.mark.needs("httpx2", "bm25s")

DOCUMENTS = {"a": "question one", "b": "question question two", "c": "question three and four words"}
QUESTIONS = count()


class Model:
    """A server that answers whatever it is told to, and a system that asks it about given documents."""

    def __init__(self, server: ChatServer, folder: Path) -> None:
        self.server, self.folder, self.answer = server, folder, ""

    def order(self, answer: str, size: int) -> tuple[list[int], list[str]]:
        """The places of the documents that it was shown, in the order of the run, and what is noted."""
        self.answer = answer
        documents = {f"d{place}": f"text {place}" for place in range(size)}
        system = self.system(documents, f"depth={size},window={max(2, size)},step=1")
        run = system.retrieve({"q": f"question {next(QUESTIONS)}"}, size)
        return [int(document[1:]) for document in run.documents("q")], system.notes

    def system(self, documents: dict[str, str], options: str) -> Any:
        path = self.folder / "first.trec"
        path.write_text("".join(f"q Q0 {key} 1 {-at} x\n" for at, key in enumerate(documents)))
        system = make_system(f"RunFile(path='{path}')>>Listwise(url='{self.server.url}',model=m,{options})")
        system.index(documents)
        return system


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    def script(call: Call, number: int) -> Any:
        return lambda one: one.say(made.answer)

    server = ChatServer(script)
    made = Model(server, tmp_path_factory.mktemp("model"))
    with server.running():
        yield made


@pytest.mark.parametrize(
    ("answer", "order", "problems"),
    [
        ("[2] > [1] > [3]", [1, 0, 2], 0),
        ("[3]>[2]>[1]", [2, 1, 0], 0),
        ("Sure! Here it is:\n[ 3 ], [ 1 ], [ 2 ].", [2, 0, 1], 0),
        ("3, 1, 2", [2, 0, 1], 0),
        ("1. [2] > [1] > [3]", [1, 0, 2], 0),  # numbers in brackets go before plain ones
        ("", [0, 1, 2], 1),
        ("I cannot rank these.", [0, 1, 2], 1),
        ("[a] > [b]", [0, 1, 2], 1),
        ("[7] > [0]", [0, 1, 2], 2),  # no number, and others
        ("[2] > [2] > [1] > [3]", [1, 0, 2], 1),
        ("[3]", [2, 0, 1], 1),
        ("[3] > [9] > [3]", [2, 0, 1], 3),  # left out, unknown, repeated
        ("[2] > [1] > [", [1, 0, 2], 1),
        ("passage 2.5 and p3", [0, 1, 2], 1),
        ("[99999999999999999999]", [0, 1, 2], 1),
        ("\uff12 > \uff11", [1, 0, 2], 1),
        ("<think>maybe [3] > [2]</think> [1] > [2] > [3]", [0, 1, 2], 0),
        ("<Thinking>\n[3]\n</Thinking>\n[2] > [1] > [3]", [1, 0, 2], 0),
        ("[3] is close.</think>[2] > [1] > [3]", [1, 0, 2], 0),  # the server cut the beginning away
        ("<think>[3] > [2], or", [0, 1, 2], 1),  # cut off before it answered
        ("<think>a</think>[2] > [1] > [3]<think>[9]</think>", [1, 0, 2], 0),
    ],
)
def test_what_becomes_of_an_answer(model: Model, answer: str, order: list[int], problems: int) -> None:
    """What had to be repaired is noted: that it was, and a note for each problem."""
    found, notes = model.order(answer, 3)
    assert found == order
    assert len(notes) == (problems + 1 if problems else 0)


@given(answer=st.text(alphabet="[]123456 >,.x", max_size=60), size=st.integers(2, 6))
def test_whatever_is_answered_becomes_a_permutation(model: Model, answer: str, size: int) -> None:
    found, _ = model.order(answer, size)
    assert sorted(found) == list(range(size))


@pytest.mark.parametrize(("window", "step", "calls"), [(10, 5, 4), (10, 10, 3), (4, 3, 8), (30, 7, 1)])
def test_windows_reach_from_the_end_to_the_beginning(
    tmp_path: Path, window: int, step: int, calls: int
) -> None:
    """A good document rises through all of them, as long as they overlap."""
    texts = {f"d{place:02}": f"text {place}" for place in range(24)} | {"d24": "the  answer\nin more words"}
    shown: list[list[str]] = []

    def script(call: Call, number: int) -> Any:
        assert "Query: what?" in call.prompt
        lines = [line for line in call.prompt.split("\n\n") if line.startswith("[")]
        shown.append([line.partition("] ")[2] for line in lines])
        best = [place for place, text in enumerate(shown[-1], 1) if text == "the answer in"]
        order = dict.fromkeys([*best, *range(1, len(lines) + 1)])
        return lambda one: one.say(" > ".join(f"[{place}]" for place in order))

    with ChatServer(script).running() as server:
        system = Model(server, tmp_path).system(texts, f"depth=25,window={window},step={step},words=3")
        run = system.retrieve({"q": "what?"}, 3)
    assert len(shown) == calls
    assert all(len(one) <= window for one in shown)
    assert {text for one in shown for text in one} == {" ".join(text.split()[:3]) for text in texts.values()}
    if step < window:
        assert run.documents("q") == ["d24", "d00", "d01"]
    assert system.notes == []
    with pytest.raises(ParameterError, match=r"step.*window"):
        make_system("BM25>>Listwise(url='http://127.0.0.1:9/v1',model=x,window=5,step=6)")


ANSWERS = ("[2] > [1] > [3]", "no idea", "[1] > [1] > [2] > [3]", "[3]", "[9] > [3] > [2] > [1]", "[3] > [1")
QUERIES = {f"q{place}": f"question {place}" for place in range(len(ANSWERS))}
ORDERS = {"q0": "213", "q1": "123", "q2": "123", "q3": "312", "q4": "321", "q5": "312"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Answers the n-th query with the n-th of ANSWERS; the last is cut off."""

    def script(call: Call, number: int) -> Any:
        place = int(call.prompt.split("Query: question ")[1].split()[0])
        cut = place == len(ANSWERS) - 1
        return lambda one: one.say(ANSWERS[place], "length" if cut else "stop")

    with ChatServer(script).running() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("d.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()))
    Path("q.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    return tmp_path


def retrieve(url: str, output: str) -> dict[str, list[str]]:
    name = f"BM25>>Listwise(url='{url}',model=ranker,depth=3)"
    assert main(["retrieve", name, "--documents", "d.tsv", "--queries", "q.tsv", "-o", output]) == 0
    rows = [line.split() for line in Path(output).read_text().splitlines()]
    return {query: [row[2] for row in rows if row[0] == query] for query in QUERIES}


def test_every_malformed_answer_of_a_server_is_repaired_and_kept(
    server: ChatServer, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", "s3cret-key")
    run = retrieve(server.url, "llm.trec")
    first = make_system("BM25")
    first.index(DOCUMENTS)
    base = first.retrieve({"q": "question"}).documents("q")
    assert run == {query: [base[int(place) - 1] for place in order] for query, order in ORDERS.items()}
    record = json.loads(Path("llm.trec.system.json").read_text())
    assert (record["class"], record["stages"]) == ("LLM", [{"system": "Listwise", "depth": 3}])
    numbers = [next(int(word) for word in note.split() if word.isdigit()) for note in record["notes"]]
    assert numbers == [5, 1, 1, 2, 1, 1]  # repaired; unreadable, repeated, left out, unknown, cut off
    assert record["notes"][0] in capsys.readouterr().err
    assert server.authorizations == {"Bearer s3cret-key"}
    # kept answers are not asked again, and the key is in no file
    asked = len(server.calls)
    assert retrieve(server.url, "again.trec") == run
    assert len(server.calls) == asked
    assert json.loads(Path("again.trec.system.json").read_text())["notes"] == record["notes"]
    for path in folder.rglob("*"):
        assert path.is_dir() or b"s3cret-key" not in path.read_bytes()


def test_a_server_without_a_key_gets_none(
    server: ChatServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVENRANK_LLM_KEY", raising=False)
    retrieve(server.url, "llm.trec")
    assert server.authorizations == {""}


def test_a_key_that_a_server_repeats_is_in_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", KEY)
    with ChatServer(
        lambda call, number: lambda one: one.say("[2] > [1] > [3] "), echo=echoed
    ).running() as echo:
        assert len(retrieve(echo.url, "llm.trec")) == len(QUERIES)
        assert echo.authorizations == {f"Bearer {KEY}"}
    assert list(folder.rglob("*.zst"))
    assert leaks(folder, *capsys.readouterr()) == []


def test_a_model_sees_no_more_than_the_limit_of_the_first_stage() -> None:
    def script(call: Call, number: int) -> Any:
        return lambda one: one.say("[2] > [1]")

    with ChatServer(script).running() as running:
        system = make_system(f"BM25@2>>Listwise(url='{running.url}',model=ranker)")
        system.index(DOCUMENTS)
        assert len(system.retrieve({"q": "question"}).documents("q")) == 2


def test_an_answer_in_parts(documents: dict[str, str]) -> None:
    parts = [
        {"type": "reasoning", "text": "[1] > [2]"},
        {"type": "text", "text": "[2] > "},
        {"type": "text", "text": "[1]"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]

    def script(call: Call, number: int) -> Any:
        return lambda one: one.send({"choices": [{"message": {"content": parts}}]})

    first = make_system("BM25@2")
    first.index(documents)
    found = first.retrieve({"q": "nurse night"}).documents("q")
    with ChatServer(script).running() as running:
        system = make_system(f"BM25@2>>Listwise(url='{running.url}',model=m)")
        system.index(documents)
        assert system.retrieve({"q": "nurse night"}).documents("q") == found[::-1]


@pytest.mark.parametrize("error", [{"message": "model s3cret-key not found", "code": 404}, "model not found"])
def test_an_error_that_comes_with_status_200(
    error: object, documents: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", "s3cret-key")

    def script(call: Call, number: int) -> Any:
        return lambda one: one.send({"error": error})

    with ChatServer(script).running() as running:
        system = make_system(f"BM25>>Listwise(url='{running.url}',model=absent)")
        system.index(documents)
        with pytest.raises(RemoteError, match=r"model .*not found") as told:
            system.retrieve({"q": "nurse night"})
    assert "s3cret-key" not in str(told.value)


def test_a_server_that_fails_is_one_error(documents: dict[str, str]) -> None:
    def script(call: Call, number: int) -> Any:
        return lambda one: one.send({"error": {"message": "no such model"}}, 404)

    with ChatServer(script).running() as running:
        system = make_system(f"BM25>>Listwise(url='{running.url}',model=absent)")
        system.index(documents)
        with pytest.raises(RemoteError, match="404"):
            system.retrieve({"q": "nurse night"})
