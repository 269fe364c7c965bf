"""A language model as one more annotator: it fills a sheet whose annotator is called ``model:NAME``.

Every answer is on disk before the next query is asked (``AnswerLog``), so nothing is asked twice. An answer
that cannot be read is a missing vote, and is listed. The model never decides: see ``outcome.decide``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import DataError, RemoteError, shortened
from evenrank.files import read_bytes
from evenrank.io.toml import parse_toml
from evenrank.queryset.procedure import MODEL_TABLE, NO, YES, Procedure
from evenrank.queryset.sheets import LIST, MODEL, columns_of
from evenrank.remote import AnswerLog, ChatEndpoint, Limits, Secrets
from evenrank.remote.chat import Messages
from evenrank.remote.json_text import read_json
from evenrank.tables import delimited

SYSTEM = "You annotate search queries. Answer with one JSON object and with nothing else."
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


@dataclass(frozen=True)
class ModelSettings:
    """Which model is asked, behind which OpenAI-compatible address."""

    url: str = ""
    name: str = ""
    key: str = ""  # the environment variable that holds the key
    answers_as: str = ""  # the name that the server gives the model, where that is another one
    temperature: float = 0.0
    max_tokens: int = 400
    seed: int = 0
    rate: float = 5.0  # requests a second
    timeout: float = 120.0  # seconds until an answer is whole
    retries: int = 4

    @property
    def annotator(self) -> str:
        return MODEL + self.name


class Unread(NamedTuple):
    """An answer that is no vote, or not all of it, and why."""

    query: str
    why: str


def read_model_settings(path: str | os.PathLike[str] | None) -> ModelSettings:
    """The table ``[model]`` of the file of settings."""
    example = f'[{MODEL_TABLE}] with url = "https://HOST/v1" and name = "MODEL"'
    if path is None:
        raise DataError(f"no model is named: write {example} into a file, and add --procedure FILE")
    table = parse_toml(read_bytes(path), str(path)).get(MODEL_TABLE)
    if not isinstance(table, dict):
        raise DataError(f"{path}: names no model: add {example}")
    known = {field.name: field.default for field in fields(ModelSettings)}
    for name, value in table.items():
        if name not in known:
            raise DataError(f"{path}: [{MODEL_TABLE}] has no setting {name!r}; there are {', '.join(known)}")
        kind: Any = (int, float) if isinstance(known[name], float) else type(known[name])
        if not isinstance(value, kind) or isinstance(value, bool):
            raise DataError(f"{path}: [{MODEL_TABLE}] {name} must be like {known[name]!r}, got {value!r}")
    if not table.get("url") or not table.get("name"):
        raise DataError(f"{path}: names no model: it needs {example}")
    return ModelSettings(**table)


def ask_model(
    settings: ModelSettings,
    stage: int,
    procedure: Procedure,
    texts: Mapping[str, str],
    log: Path,
    *,
    endpoint: ChatEndpoint | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, list[Unread]]:
    """The sheet that the model fills, and its answers that could not be read."""
    endpoint = endpoint or _endpoint(settings)
    answers = AnswerLog(log, endpoint.secrets)
    try:
        known = {record["key"]: record for record in answers.records()}
        rows: list[dict[str, str]] = []
        unread: list[Unread] = []
        for done, (query, text) in enumerate(texts.items()):
            if progress is not None:
                progress(done, len(texts))
            messages = messages_of(stage, procedure, text)
            key = _key(settings, messages)
            if key not in known:
                known[key] = _asked(settings, endpoint, messages, key, query, f"{done} of {len(texts)}", log)
                answers.add(known[key])
            cells, problems = _read(known[key], stage, procedure)
            unread += [Unread(query, why) for why in problems]
            rows.append({"annotator": settings.annotator, "query": query, "text": text, **cells})
    finally:
        answers.close()
        endpoint.close()
    return delimited(rows, ",", columns_of(stage, procedure)), unread


def messages_of(stage: int, procedure: Procedure, text: str) -> Messages:
    """What the model is asked about one query: what the sheets ask people."""
    lines = [f"The query: {json.dumps(text, ensure_ascii=False)}", ""]
    if stage == 1:
        lines.append("Which of these labels does the query get?")
        for label in procedure.labels:
            meaning = procedure.meaning_of(label)
            lines.append(f"- {label}: {meaning}" if meaning else f"- {label}")
        answer: dict[str, Any] = {"label": procedure.labels[0]}
    else:
        lines.append(
            "Answer with yes or no. Answer a question only if the one before it was answered with yes."
        )
        for name, question in zip(procedure.questions, procedure.texts, strict=True):
            lines.append(f"- {name}: {question}")
        lines.append(
            "If all answers are yes, name one or more domains, and give the reason in one sentence. "
            f"The domains are: {'; '.join(procedure.domains)}."
        )
        answer = {
            **dict.fromkeys(procedure.questions, YES),
            "domains": [procedure.domains[0]],
            "reason": "...",
        }
    lines += ["", f"Answer in this form: {json.dumps(answer)}"]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n".join(lines)}]


def _endpoint(settings: ModelSettings) -> ChatEndpoint:
    secrets = Secrets({"key": settings.key} if settings.key else {})
    limits = Limits(timeout=settings.timeout, retries=settings.retries, rate=settings.rate, concurrency=1)
    return ChatEndpoint(settings.url, secrets=secrets, limits=limits)


def _key(settings: ModelSettings, messages: Messages) -> str:
    """One for whatever can change an answer, so answers of another model or wording are never used."""
    asked = {
        name: value
        for name, value in asdict(settings).items()
        if name not in ("key", "rate", "timeout", "retries")
    }
    text = json.dumps([asked, [dict(message) for message in messages]], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _asked(
    settings: ModelSettings,
    endpoint: ChatEndpoint,
    messages: Messages,
    key: str,
    query: str,
    done: str,
    log: Path,
) -> dict[str, Any]:
    try:
        answer = endpoint.complete(
            settings.name, messages, temperature=settings.temperature, max_tokens=settings.max_tokens,
            seed=settings.seed,
        )  # fmt: skip
    except RemoteError as error:
        raise RemoteError(
            f"{error} ({done} answers are kept in {log}: the same command goes on from there)"
        ) from error
    if answer.model != (settings.answers_as or settings.name):
        raise RemoteError(
            f"{endpoint.client.origin}: was asked for the model {settings.name!r}, but {answer.model!r} "
            "answered; if that is the same model under another name, write "
            f'answers_as = "{answer.model}" below [{MODEL_TABLE}]'
        )
    return {"key": key, "query": query, "text": answer.text, "finish": answer.finish, "model": answer.model}


def _read(record: Mapping[str, Any], stage: int, procedure: Procedure) -> tuple[dict[str, str], list[str]]:
    """The cells that an answer fills, and what of it cannot be used; without a vote the cells are empty."""
    columns = columns_of(stage, procedure)[3:]
    text, finish = str(record["text"]).strip(), record["finish"]

    def missing(why: str) -> tuple[dict[str, str], list[str]]:
        return dict.fromkeys(columns, ""), [f"{why}, so the vote is missing: {shortened(text, 80)!r}"]

    if finish != "stop":
        return missing(f"the answer did not end by itself ({finish})")
    fenced = _FENCE.fullmatch(text)
    try:
        found = read_json(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        return missing("the answer is not JSON")
    if not isinstance(found, dict):
        return missing("the answer is not a JSON object")
    if stage == 1:
        label = found.get("label")
        if label not in procedure.labels:
            return missing(f"the answer has none of the labels {', '.join(procedure.labels)}")
        return {"label": label}, []
    cells, problems = dict.fromkeys(columns, ""), list[str]()
    for question in procedure.questions:
        answer = found.get(question)
        answer = answer.strip().lower() if isinstance(answer, str) else None
        if answer not in (YES, NO):
            return missing(f"the answer has no yes or no to {question}")
        cells[question] = answer
        if answer == NO:
            return cells, problems
    domains = found.get("domains")
    named = [str(domain).strip() for domain in domains] if isinstance(domains, list) else []
    problems += [f"unknown domain {d!r}, which is left out" for d in named if d not in procedure.domains]
    cells["domains"] = f"{LIST} ".join(domain for domain in procedure.domains if domain in named)
    reason = found.get("reason")
    cells["reason"] = " ".join(reason.split()) if isinstance(reason, str) else ""
    return cells, problems
