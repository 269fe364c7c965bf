"""JSON of servers: only what can be written again, and objects that remember how they were written, so that
a log does not write them anew."""

from __future__ import annotations

import json
from typing import Any


class WrittenObject(dict[str, Any]):
    """A JSON object with the text that it was read from. Whoever changes it makes a plain ``dict`` first."""

    __slots__ = ("text",)

    def __init__(self, content: dict[str, Any], text: str) -> None:
        super().__init__(content)
        self.text = text


def read_json(text: str) -> Any:
    """JSON from elsewhere. A ValueError where it is none, or where it holds what no file can hold: half of a
    surrogate pair.

    >>> read_json('{"score": 1.5}')
    {'score': 1.5}
    """
    return writable(_DECODER.decode(text), text)


def objects_of_list(text: str, name: str) -> Any:
    """JSON whose last member is a list called ``name``; its objects remember their text.

    What is written in another way is read all the same, and its objects are plain.

    >>> found = objects_of_list('{"took":3,"found":[{"a":1},{"b": 2}]}', "found")
    >>> found["found"], found["found"][1].text
    ([{'a': 1}, {'b': 2}], '{"b": 2}')
    """
    begin, mark, _ = text.partition(f',"{name}":[')
    place = len(begin) + len(mark)
    found: list[Any] = []
    while mark and text[place : place + 1] == "{":
        value, end = _DECODER.raw_decode(text, place)
        found.append(WrittenObject(value, text[place:end]))
        if text[end : end + 1] == ",":
            place = end + 1
        elif text[end:] == "]}" and begin.find("{", 1) < 0:
            return writable({**_DECODER.decode(begin + "}"), name: found}, text)
        else:
            break
    return read_json(text)


def writable(value: Any, text: str) -> Any:
    """A value that was read from a text; a ValueError where UTF-8 cannot hold it."""
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()  # a UnicodeEncodeError is a ValueError
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


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
