"""The pipeline end to end, with a server that behaves and one that does not."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import MODEL, REFUSAL, Answer, Call, ChatServer
from echoes import KEY, echoed, leaks

from evenrank.cli import main
from evenrank.corpus import read_corpus
from evenrank.corpus.pipeline import read_stage, write_stage
from evenrank.errors import DataError, ParameterError, RemoteError
from evenrank.remote import ChatAnswer, Secrets

TOPICS = "title,domains,page\nzoos,Environment,101\nhomework,History; Philosophy,102\ncash,Technology,103\n"
SETTINGS = """
name = "tiny"
[writer]
url = "{url}"
model = "{model}"
rate = 100000
retries = {retries}
timeout = 5
concurrency = {concurrency}
input_price = 1.0
output_price = 2.0
max_tokens = 300
[questions]
per_topic = 3
sample = 4
[documents]
attempts = {attempts}
[filters]
near = 0.8
"""
STAGES = ("questions", "perspectives", "documents", "distractors")


def prepared(folder: Path, server: ChatServer, **changed: Any) -> Path:
    folder.mkdir(exist_ok=True)
    values = {"retries": 0, "concurrency": 1, "attempts": 2, "model": MODEL} | changed
    (folder / "corpus.toml").write_text(SETTINGS.format(url=server.url, **values), encoding="utf-8")
    (folder / "list.csv").write_text(TOPICS, encoding="utf-8")
    read_stage("topics", folder, [folder / "list.csv"])
    return folder


def written(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What every stage has, but for the times."""
    found = {}
    for path in sorted(folder.rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found[str(path.relative_to(folder))] = [
            {name: value for name, value in row.items() if name != "time"} for row in rows
        ]
    return found


def run_all(folder: Path, **limits: Any) -> None:
    for stage in STAGES:
        write_stage(stage, folder, **limits)
        if stage == "documents":
            read_stage("filters", folder, [])


def test_end_to_end(tmp_path: Path) -> None:
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server, concurrency=3)
        run_all(folder)
        corpus = read_corpus(folder)
        assert len(corpus.questions) == 9
        assert len(corpus.queries) == 4
        sides = Counter((record["query"], record["perspective"]) for record in corpus.documents)
        assert sides == Counter({(query, side): 4 for query in corpus.queries for side in ("p1", "p2")})
        assert {record["document"] for record in corpus.documents} == {
            f"{query}_{side}_d{number}"
            for query in corpus.queries
            for side in ("p1", "p2")
            for number in range(1, 5)
        }
        assert len(corpus.distractors) == 8
        assert max(server.seen.values()) == 1  # nothing was asked twice
        for record in (*corpus.questions, *corpus.perspectives, *corpus.written, *corpus.distractors):
            assert record["model"] == MODEL
            assert all(record[name] is not None for name in ("prompt", "seed", "time", "made_from"))
        before = len(server.calls)
        run_all(folder)  # everything is on disk
        assert len(server.calls) == before


def troublesome(call: Call, number: int) -> Answer | None:
    """Every kind of misbehaviour, chosen by the prompt and the seed, once for each."""
    if number:
        return None
    kind = (call.seed + len(call.prompt)) % 5
    return [
        None,
        lambda call: call.send({"error": "slow down"}, 429, Retry_After="0"),
        lambda call: call.send({"error": "oops"}, 500),
        Call.hang_up,
        lambda call: call.send(b"<html>bad gateway</html>", 502),
    ][kind]


def test_failures_that_pass_are_tried_again(tmp_path: Path) -> None:
    with ChatServer().running() as good, ChatServer(troublesome).running() as bad:
        first = prepared(tmp_path / "good", good)
        run_all(first)
        second = prepared(tmp_path / "bad", bad, retries=3, concurrency=4)
        run_all(second)
        assert max(bad.seen.values()) == 2
        assert written(first) == written(second)


def test_answers_that_cannot_be_used_are_asked_for_again_and_rejected_with_a_reason(tmp_path: Path) -> None:
    wrong: dict[str, Answer] = {
        "banned": lambda call: call.say(REFUSAL),
        "taxed": lambda call: call.say(f"Perspective 1: Yes\n{call.article()}"),
        "taught": lambda call: call.say(
            f"Perspective 1: Yes\n{call.article('a')}\nPerspective 2: No\n" + "The c", "length"
        ),
    }

    def script(call: Call, number: int) -> Answer | None:
        if "For each side" not in call.prompt:
            return None
        return next((answer for word, answer in wrong.items() if word in call.prompt), None)

    with ChatServer(script).running() as server:
        folder = prepared(tmp_path / "c", server, attempts=3)
        text = (folder / "corpus.toml").read_text(encoding="utf-8").replace("sample = 4", "sample = 0")
        (folder / "corpus.toml").write_text(text, encoding="utf-8")
        write_stage("questions", folder)
        result = write_stage("perspectives", folder)
    reasons = Counter(each.reason for each in result.made.rejected)
    assert reasons == {"a refusal": 3, "1 perspective, not 2": 3, "article 2: cut off": 3}
    assert all(each.attempts == 3 for each in result.made.rejected)
    rejected = written(folder)["rejected/perspectives.jsonl"]
    assert Counter(row["reason"] for row in rejected) == reasons
    assert result.spent.calls == 27


def test_a_document_that_is_refused_once_is_asked_for_again(tmp_path: Path) -> None:
    def script(call: Call, number: int) -> Answer | None:
        first_try = (
            "write an article from the perspective of the side below" in call.prompt and len(refused) < 5
        )
        if first_try:
            refused.append(call.seed)
            return lambda call: call.say(REFUSAL)
        return None

    refused: list[int] = []
    with ChatServer(script).running() as server:
        folder = prepared(tmp_path / "c", server, attempts=6)
        for stage in STAGES[:3]:
            result = write_stage(stage, folder)
    assert len(refused) == 5
    assert not result.made.rejected
    assert len(result.made.records) == 32


def test_a_key_that_a_server_repeats_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVENRANK_WRITER_KEY", KEY)
    with ChatServer(echo=lambda authorization: f" {echoed(authorization)}").running() as server:
        folder = prepared(tmp_path / "c", server)
        text = (folder / "corpus.toml").read_text(encoding="utf-8")
        keyed = text.replace("[writer]", '[writer]\nkey = "EVENRANK_WRITER_KEY"')
        (folder / "corpus.toml").write_text(keyed, encoding="utf-8")
        for stage in STAGES[:3]:
            assert main(["corpus", stage, str(folder)]) == 0
        assert server.authorizations == {f"Bearer {KEY}"}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(b"***" in path.read_bytes() for path in files)  # it was repeated
    assert leaks(tmp_path, *capsys.readouterr()) == []


def test_the_log_of_a_writer_holds_none_of_its_secrets(tmp_path: Path) -> None:
    """Whatever a writer gives back."""

    class Repeats:
        secrets = Secrets({"key": "EVENRANK_K"}, {"EVENRANK_K": KEY})

        def write(self, messages: Any, seed: int) -> ChatAnswer:
            lines = "\n".join(f"{at}. Should {KEY} be number {at}?" for at in range(1, 9))
            return ChatAnswer(lines, "stop", MODEL, 1, 1)

        def close(self) -> None: ...

    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server)
        write_stage("questions", folder, writer=Repeats())
    assert list((folder / "answers").glob("*.zst"))
    assert leaks(folder / "answers") == []


def test_another_model_is_refused(tmp_path: Path) -> None:
    def script(call: Call, number: int) -> Answer:
        return lambda call: call.say("1. Should zoos be closed by law?", model="cheaper-1")

    with ChatServer(script).running() as server:
        folder = prepared(tmp_path / "c", server)
        with pytest.raises(RemoteError, match=r"'cheaper-1' answered.*answers_as"):
            write_stage("questions", folder)
        assert len(server.calls) == 1


def test_a_changed_model_or_prompt_is_refused_and_not_mixed(tmp_path: Path) -> None:
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server)
        write_stage("questions", folder, max_calls=1)
        kept = written(folder)
        prepared(folder, server, model="writer-2")
        with pytest.raises(DataError, match="another model \\('writer-1' before, 'writer-2' now\\)"):
            write_stage("questions", folder)
        prepared(folder, server)
        (folder / "prompts").mkdir()
        own = folder / "prompts/questions.txt"
        own.write_text('Write $count debate questions on "$title".', encoding="utf-8")
        with pytest.raises(DataError, match="another prompt 'questions'"):
            write_stage("questions", folder)
        assert written(folder)["questions.jsonl"] == kept["questions.jsonl"]
        own.write_text("Write some debate questions.", encoding="utf-8")
        with pytest.raises(DataError, match=r"questions.txt: lacks \$count, \$title"):
            write_stage("questions", folder)
        own.unlink()
        assert len(write_stage("questions", folder).made.records) == 9


def test_limits_stop_cleanly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer().running() as server:
        whole = prepared(tmp_path / "whole", server)
        run_all(whole)
        all_calls = len(server.calls)
        folder = prepared(tmp_path / "c", server)
        for stage in STAGES:
            for _ in range(100):
                before = len(server.calls)
                result = write_stage(stage, folder, max_calls=5)
                assert len(server.calls) - before <= 5
                if not result.stopped:
                    break
                assert "--max-calls 5 is reached" in result.describe()[-1]
            if stage == "documents":
                read_stage("filters", folder, [])
        assert len(server.calls) == 2 * all_calls
        assert written(whole) == written(folder)
        paid = prepared(tmp_path / "paid", server)
        assert main(["corpus", "questions", str(paid), "--max-cost", "0.0009"]) == 0
        assert (
            "stopped: another call may cost more than is left of --max-cost 0.0009" in capsys.readouterr().err
        )
        result = write_stage("questions", paid, max_cost=10.0)
        assert 0 < result.spent.cost <= 10.0
        assert not result.stopped


def test_what_is_spent_is_told_while_it_runs(tmp_path: Path) -> None:
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server)
        seen: list[str] = []
        result = write_stage("questions", folder, spending=lambda spent: seen.append(spent.tokens_and_cost))
        assert len(seen) == len(set(seen)) == 3  # one for each topic, and each adds to the last
        total = result.spent.input_tokens + result.spent.output_tokens
        assert seen[-1] == f"{total:,} tokens, cost {result.spent.cost:.4g}"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Yes, it does.", "answers the question"),
        ("Perhaps.", "the check said neither yes nor no"),
    ],
)
def test_a_distractor_that_answers_the_question_is_rejected(tmp_path: Path, answer: str, reason: str) -> None:
    def checked(call: Call, number: int) -> Answer | None:
        return (lambda call: call.say(answer)) if "Answer with one word" in call.prompt else None

    with ChatServer(checked).running() as server:
        folder = prepared(tmp_path / "c", server)
        for stage in STAGES[:-1]:
            write_stage(stage, folder)
        made = write_stage("distractors", folder).made
        assert made.records == ()
        assert {(each.reason, each.attempts) for each in made.rejected} == {(reason, 2)}
        kept = [
            json.loads(line) for line in (folder / "rejected" / "distractors.jsonl").open(encoding="utf-8")
        ]
        assert len(kept) == len(made.rejected) == 8


def test_distractors_need_another_question_that_is_distinct(tmp_path: Path) -> None:
    """The questions of the server differ in one word only; a topic with one question has no other."""
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server)
        for stage in STAGES[:-1]:
            write_stage(stage, folder)
        text = (folder / "corpus.toml").read_text(encoding="utf-8")
        (folder / "corpus.toml").write_text(text + "[distractors]\ndistinct = 0.01\n", encoding="utf-8")
        before = len(server.calls)
        made = write_stage("distractors", folder).made
        assert len(server.calls) == before  # found out before anything is paid for
        assert made.records == ()
        assert all("no other question on its topic is distinct" in each.reason for each in made.rejected)
        used = read_corpus(folder).queries
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["query"] in used]
        (folder / "questions.jsonl").write_text("".join(kept), encoding="utf-8")
        reasons = {each.reason for each in write_stage("distractors", folder).made.rejected}
        assert "its topic has no other question" in reasons


def test_a_server_moderates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server)
        for stage in STAGES[:-1]:
            write_stage(stage, folder)
        assert main(["corpus", "safety", str(folder)]) == 0
        out = capsys.readouterr().out
        documents = read_corpus(folder).documents
        hateful = [record["document"] for record in documents if "museum" in record["text"]]
        assert 0 < len(hateful) < len(documents)
        assert re.search(rf"hate +\S+ +0\.2000 +{len(hateful)}\b", out)
        assert re.search(r"harm +\S+ +0\.0000 +0\b", out)
        scores = [json.loads(line) for line in (folder / "safety.jsonl").open(encoding="utf-8")]
        assert {row["document"] for row in scores if row["scores"]["hate"] > 0.1} == set(hateful)


def test_a_cost_is_never_above_its_limit(tmp_path: Path) -> None:
    with ChatServer().running() as server:
        folder = prepared(tmp_path / "c", server, concurrency=4)
        write_stage("questions", folder)
        write_stage("perspectives", folder)
        for limit in (0.001, 0.002, 0.005):
            assert write_stage("documents", folder, max_cost=limit).spent.cost <= limit
        text = (folder / "corpus.toml").read_text(encoding="utf-8")
        free = text.replace("input_price = 1.0\n", "").replace("output_price = 2.0\n", "")
        (folder / "corpus.toml").write_text(free, encoding="utf-8")
        with pytest.raises(ParameterError, match="--max-cost needs prices"):
            write_stage("documents", folder, max_cost=1.0)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs SIGKILL")
def test_killed_ten_times(tmp_path: Path) -> None:
    """No answer on the disk is asked for again, and the result is that of a run that was not killed."""
    concurrency = 2
    with ChatServer().running() as calm, ChatServer().running() as server:
        whole = prepared(tmp_path / "whole", calm, concurrency=concurrency)
        run_all(whole)
        folder = prepared(tmp_path / "c", server, concurrency=concurrency)
        write_stage("questions", folder)
        kills = 0
        for stage in ("perspectives", "documents", "distractors"):
            while True:
                before = len(server.calls)
                process = subprocess.Popen(
                    [sys.executable, "-m", "evenrank", "corpus", stage, str(folder)],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                if kills < 10:
                    while process.poll() is None and len(server.calls) < before + 1 + kills % 3:
                        time.sleep(0.001)
                    if process.poll() is None:
                        os.kill(process.pid, signal.SIGKILL)
                        process.wait()
                        kills += 1
                        continue
                assert process.wait() == 0
                break
            if stage == "documents":
                read_stage("filters", folder, [])
        assert kills == 10
        repeated = sum(count - 1 for count in server.seen.values())
        assert repeated <= kills * concurrency  # calls in flight
        assert written(whole) == written(folder)
