"""Files of settings, typed: from TOML to frozen models, and all that is wrong with a file at once.

pydantic is loaded with this module, so it is imported where a file of settings is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Strict, Tag
from pydantic import ValidationError as Invalid

from evenrank.errors import DataError, EvenrankError, nearest_hint, shortened
from evenrank.grammar import LARGEST

LONGEST_NAME = 255  # bytes, of a file or a folder on the usual file systems


class SettingsTable(BaseModel):
    """A table of a file of settings: its keys are its fields, and their types are exact."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    if "\0" in value:
        raise ValueError("must not hold a zero byte")
    return value


def _path(value: str) -> str:
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in re.split("[/:=,]", value)):
        raise ValueError(f"names a file or a folder by more than {LONGEST_NAME} bytes")
    return value


def kind_of(value: Any) -> str:
    if isinstance(value, (Mapping, BaseModel)):
        return "table"
    return "list" if isinstance(value, (list, tuple)) else "text"


def as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Model = TypeVar("Model", bound=BaseModel)

Text = Annotated[str, AfterValidator(_text)]
FileText = Annotated[Text, AfterValidator(_path)]  # a file with its options, or its name
FileName = Annotated[Text, Field(max_length=100), AfterValidator(_path)]  # files are called after it
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Texts = Annotated[tuple[Text, ...], Strict(False), BeforeValidator(as_list)]  # or one without brackets
TEXT, LIST, TABLE = Tag("text"), Tag("list"), Tag("table")  # the forms of a value that has several
BY_KIND = Discriminator(kind_of)


def checked(
    model: type[Model],
    content: Mapping[str, Any],
    name: str,
    error: type[EvenrankError] = DataError,
    *,
    strict: bool | None = None,
) -> Model:
    """The content of the file called ``name``, typed; everything that is wrong with it is one error.

    With ``strict`` false numbers may be written as text, as behind the question mark of an address.
    """
    if problems := problems_of(model, content, name, strict):
        raise error("\n".join(problems))
    return model.model_validate(content, strict=strict)


def problems_of(
    model: type[BaseModel], content: Mapping[str, Any], name: str, strict: bool | None = None
) -> list[str]:
    try:
        model.model_validate(content, strict=strict)
    except Invalid as wrong:
        return list(_lines(wrong, model, content, name))
    return []


def as_far_as_right(model: type[Model], content: Mapping[str, Any]) -> Model:
    """The content without the keys that are wrong."""
    try:
        return model.model_validate(content)
    except Invalid as wrong:
        left: Any = content
        for one in wrong.errors(include_url=False):
            place = _place(one["loc"], content)
            # where a key is missing, the table that lacks it goes
            left = _without(left, place[:-1] if one["type"] == "missing" else place)
        return as_far_as_right(model, {} if left == content else left)


_FORMS = {
    "string_type": "must be text in quotes",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "invalid-json-value": "must be text, a number, true or false, a list or a table",
}  # of what pydantic says in Python's words


def shown(value: Any) -> str:
    """A value for a message; Python refuses to write integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length():,} bits"
    return shortened(repr(value))


def _lines(wrong: Invalid, model: type[BaseModel], content: Any, name: str) -> Iterator[str]:
    """A line for each problem: ``FILE: key.path: what is wrong``."""
    for one in wrong.errors(include_url=False):
        place = _place(one["loc"], content)
        kind = one["type"]
        message = _FORMS.get(kind) or one["msg"].replace("Input should be", "must be", 1)
        if kind == "extra_forbidden":
            what = f"there is no such key{nearest_hint(str(place[-1]), _known(model, place))}"
        elif kind == "missing":
            what = "is missing"
        elif kind == "value_error":
            what = str(one["ctx"]["error"])
        elif kind == "literal_error" or not isinstance(one["input"], (str, Mapping, list, tuple)):
            what = f"{message}, got {shown(one['input'])}"
        else:  # a text may be a secret in the wrong place
            what = message
        yield f"{name}: {'.'.join(shortened(str(part)) for part in place)}: {what}"


def _place(loc: tuple[int | str, ...], content: Any) -> list[int | str]:
    """The keys that lead to a value, without the names that pydantic has for what it tried there."""
    place: list[int | str] = []
    for part in loc:
        several = content if isinstance(content, (list, tuple)) else ()
        inner = content if isinstance(content, Mapping) else dict(enumerate(several))
        if part in inner:
            place.append(part)
            content = inner[part]
        elif isinstance(content, Mapping) and part not in (
            "text",
            "list",
            "table",
            "averaged",
            "[key]",
            "dict",
        ):
            place.append(part)  # a key that is missing
    return place


def _known(model: type[BaseModel], place: list[int | str]) -> list[str]:
    """The keys of the table that the last of these keys stands in."""
    models = [model]
    for part in place[:-1]:
        fields = (one.model_fields[str(part)] for one in models if part in one.model_fields)
        models = [inner for field in fields for inner in _models(field.annotation)] or models
    return [name for one in models for name in one.model_fields]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _without(content: Any, place: list[int | str]) -> Any:
    """The content without the key at this place; of a list, the whole list goes. Without a place nothing is
    left."""
    if not place:
        return {}
    key = place[0]
    if len(place) == 1 or not isinstance(content.get(key), Mapping):
        return {name: value for name, value in content.items() if name != key}
    return {**content, key: _without(content[key], place[1:])}
