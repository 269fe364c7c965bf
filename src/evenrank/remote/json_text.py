"""JSON objects that remember how they were written, so that a log does not write them anew."""

from __future__ import annotations

import json
from typing import Any


class WrittenObject(dict[str, Any]):
    """A JSON object with the text that it was read from. Whoever changes it makes a plain ``dict`` first."""

    __slots__ = ("text",)

    def __init__(self, content: dict[str, Any], text: str) -> None:
        super().__init__(content)
        self.text = text


_DECODER = json.JSONDecoder()


def objects_of_list(raw: bytes, name: str) -> Any:
    """JSON whose last member is a list called ``name``; its objects remember their text.

    What is written in another way is read all the same, and its objects are plain.

    >>> found = objects_of_list(b'{"took":3,"found":[{"a":1},{"b": 2}]}', "found")
    >>> found["found"], found["found"][1].text
    ([{'a': 1}, {'b': 2}], '{"b": 2}')
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return json.loads(raw)
    begin, mark, _ = text.partition(f',"{name}":[')
    place = len(begin) + len(mark)
    found: list[Any] = []
    while mark and text[place : place + 1] == "{":
        value, end = _DECODER.raw_decode(text, place)
        found.append(WrittenObject(value, text[place:end]))
        if text[end : end + 1] == ",":
            place = end + 1
        elif text[end:] == "]}" and begin.find("{", 1) < 0:
            return {**json.loads(begin + "}"), name: found}
        else:
            break
    return json.loads(text)


def written(record: dict[str, Any], name: str) -> str:
    """A record as JSON on one line; the member called ``name`` as it was read, where that is known.

    >>> written({"a": 1, "raw": WrittenObject({"b": 2}, '{"b": 2}')}, "raw")
    '{"a":1,"raw":{"b": 2}}'
    """
    own = record.get(name)
    if isinstance(own, WrittenObject) and "\n" not in own.text and "\r" not in own.text:
        rest = _dumped({key: value for key, value in record.items() if key != name})
        return f'{rest[:-1]}{"," if len(rest) > 2 else ""}"{name}":{own.text}}}'
    return _dumped(record)


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
