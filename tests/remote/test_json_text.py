"""Objects that remember their text are the same objects, and a log writes that text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenrank.remote import Secrets
from evenrank.remote.answer_log import AnswerLog
from evenrank.remote.json_text import WrittenObject, objects_of_list

HITS = {"hits": [{"_id": "d,1]}", "_score": 1e-7, "a": [1, {"responses": "[{"}]}, {"_id": "é\u2028\\"}]}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize(
    "content",
    [
        {"took": 3, "responses": [HITS, {}, {"error": {"reason": "no"}}]},
        {"took": 3, "responses": []},
        {"took": {"responses": 1}, "responses": [HITS]},
        {"took": 3, "responses": [HITS], "more": 1},
        {"took": 3, "responses": [HITS, 7, "x"]},
        {"responses": [HITS]},
        [1, 2],
        "text",
    ],
)
def test_it_reads_what_json_reads(content: Any, separators: tuple[str, str]) -> None:
    for ascii_only in (True, False):
        text = json.dumps(content, separators=separators, ensure_ascii=ascii_only)
        found = objects_of_list(text, "responses")
        assert found == content
        assert list(found) == list(content)
        for one in found["responses"] if isinstance(found, dict) else ():
            assert not isinstance(one, WrittenObject) or json.loads(one.text) == one


def test_a_usual_answer_is_not_written_anew(tmp_path: Path) -> None:
    text = '{"took":3,"responses":[{"hits":{"hits":[{"_id":"d1"}]},"status":200}]}'
    (answer,) = objects_of_list(text, "responses")["responses"]
    assert isinstance(answer, WrittenObject)
    record = {"kind": "answer", "query": "q1", "raw": answer}
    log = AnswerLog(tmp_path / "log.zst", Secrets({"password": "EVENRANK_P"}, {"EVENRANK_P": "d1"}))
    log.add(record)
    log.close()
    (read,) = AnswerLog(tmp_path / "log.zst", Secrets()).records()
    hidden = json.loads(json.dumps(record).replace("d1", read["raw"]["hits"]["hits"][0]["_id"]))
    assert read == hidden
    assert "d1" not in json.dumps(read)  # a secret is hidden in the text too


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"took":3,"responses":[{"a":1}',
        '{"took":3,"responses":[{"a":1},]}',
        '{"took":3,"responses":[{"a":"\\ud800"}]}',
        '{"took":3,"responses":[{"a":NaN}]}',
        '{"took":NaN,"responses":[]}',
    ],
)
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        objects_of_list(text, "responses")


def test_a_line_stays_a_line(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "log.zst", Secrets())
    log.add({"raw": WrittenObject({"a": 1}, '{"a":\n1}')})
    log.close()
    assert list(AnswerLog(tmp_path / "log.zst", Secrets()).records()) == [{"raw": {"a": 1}}]
