"""The log of answers: whole records and nothing else, whatever happened to the process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from evenrank.errors import DataError
from evenrank.remote import Secrets
from evenrank.remote.answer_log import AnswerLog
from evenrank.remote.json_text import WrittenObject


def written(path: Path, count: int = 3) -> list[dict[str, object]]:
    log = AnswerLog(path, Secrets())
    records = [
        {"query": f"q{number}", "text": "é" + sha256(bytes([number])).hexdigest()} for number in range(count)
    ]
    for record in records:
        log.add(record)
    log.close()
    return records


def read(path: Path) -> list[dict[str, object]]:
    log = AnswerLog(path, Secrets())
    try:
        return list(log.records())
    finally:
        log.close()


def test_a_file_cut_anywhere_holds_the_records_before_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.zst"
    records = written(path)
    whole = path.read_bytes()
    ends = [0]
    for number in range(1, 4):
        written(tmp_path / f"{number}.zst", number)
        ends.append((tmp_path / f"{number}.zst").stat().st_size)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        count = sum(end <= cut for end in ends[1:])
        assert read(path) == records[:count], cut
        log = AnswerLog(path, Secrets())  # and it goes on
        log.add({"query": "more"})
        log.close()
        assert [record["query"] for record in read(path)[count:]] == ["more"]


def test_other_tools_read_it(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.zst"
    records = written(path)
    stream = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(path.read_bytes()), read_across_frames=True
    )
    assert [json.loads(line) for line in stream.read().decode().splitlines()] == records


def test_damage_in_the_middle_is_an_error_and_nothing_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.zst"
    written(path)
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="is damaged at byte 9"):
        AnswerLog(path, Secrets())
    assert path.read_bytes() == bytes(content)
    path.write_text("something else")
    with pytest.raises(DataError, match="not a log of answers"):
        AnswerLog(path, Secrets())


def test_two_processes_do_not_write_the_same_log(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.zst"
    log = AnswerLog(path, Secrets())
    code = (
        "from pathlib import Path; from evenrank.remote import AnswerLog, Secrets; "
        f"AnswerLog(Path({str(path)!r}), Secrets())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    log.close()
    assert "another process is asking" in done.stderr


def test_no_secret_is_written(tmp_path: Path) -> None:
    secret = 'pass"wörd/1'
    log = AnswerLog(tmp_path / "a.zst", Secrets({"password": "EVENRANK_P"}, {"EVENRANK_P": secret}))
    log.add({"echo": [secret, f"Basic {secret}!"], secret: 1})
    log.close()
    (found,) = read(tmp_path / "a.zst")
    assert found == {"echo": ["***", "Basic ***!"], "***": 1}


def test_a_secret_in_other_writing_is_not_written_and_the_log_stays_json(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "a.zst", Secrets({"key": "EVENRANK_K"}, {"EVENRANK_K": "/7351/9"}))
    log.add({"raw": WrittenObject({"a": "/7351/9"}, r'{"a": "\/735\u0031\/9"}')})
    log.close()
    log = AnswerLog(tmp_path / "b.zst", Secrets({"key": "EVENRANK_K"}, {"EVENRANK_K": "8675309"}))
    log.add({"score": 8675309, "name": "d8675309"})
    log.close()
    assert read(tmp_path / "a.zst") == [{"raw": {"a": "***"}}]
    assert read(tmp_path / "b.zst") == [{"score": "***", "name": "d***"}]


def test_what_no_file_can_hold_is_not_written(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "a.zst", Secrets())
    log.add({"query": "q0"})
    with pytest.raises(ValueError, match="surrogates"):
        log.add({"query": "q1", "id": "\ud800"})
    log.add({"query": "q2"})
    log.close()
    assert [record["query"] for record in read(tmp_path / "a.zst")] == ["q0", "q2"]


def test_a_record_of_an_earlier_version_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "a.zst", Secrets())
    log.add({"raw": WrittenObject({}, r'{"id":"\ud800"}')})
    log.add({"raw": WrittenObject({}, r'{"id":"\uDFFF"}')})
    log.add({"raw": WrittenObject({}, r'{"id":"\ud83d\ude00"}')})
    log.add({"raw": float("nan")})  # of a function: a field without a value
    log.close()
    first, second = read(tmp_path / "a.zst")
    assert first == {"raw": {"id": "\N{GRINNING FACE}"}}
    assert second["raw"] != second["raw"]


def test_no_log_is_opened_without_secrets(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        AnswerLog(tmp_path / "a.zst")  # type: ignore[call-arg]


def test_a_full_disk_leaves_whole_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answers.jsonl.zst"
    log = AnswerLog(path, Secrets())
    log.add({"query": "q0"})

    class Full:
        def __init__(self, file: object) -> None:
            self.file = file

        def write(self, piece: memoryview) -> int:
            os.write(self.file.fileno(), piece[:10])  # type: ignore[attr-defined]
            raise OSError(28, "No space left on device")

        def __getattr__(self, name: str) -> object:
            return getattr(self.file, name)

    log._file = Full(log._file)  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left"):
        log.add({"query": "q1"})
    log.close()
    assert [record["query"] for record in read(path)] == ["q0"]
