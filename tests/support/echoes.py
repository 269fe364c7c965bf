"""Servers that repeat a secret in whatever way, and the search for it in all files of a folder."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import zstandard

KEY = 'Zk/"S3cret+key 42\\'
"""A key whose every way of being written differs from the others."""
PIECE = "S3cret"


def echoed(authorization: str) -> str:
    """What a server was sent, in every way of writing it, on one line."""
    forms = [
        authorization,
        json.dumps({"Authorization": authorization}),
        json.dumps(json.dumps(authorization)),
    ]
    for before in ("", "x", "xy"):
        forms.append(base64.b64encode(f"{before}{authorization}z".encode()).decode())
        forms.append(base64.urlsafe_b64encode(f"{before}{authorization}z".encode()).decode())
    quoted = quote(authorization)
    forms += [quote(authorization, safe=""), re.sub("%..", lambda escape: escape[0].lower(), quoted)]
    return " | ".join(forms)


def leaks(folder: Path, *texts: str) -> list[str]:
    """The files of a folder, and the texts, that hold a piece of the key in any of these ways."""
    found = [text for text in texts if _holds(text)]
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".zst":
                reader = zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True)
                content = reader.read()
            if _holds(content.decode("latin-1")):
                found.append(str(path))
    return found


def _holds(text: str) -> bool:
    if PIECE in text:
        return True
    for run in re.findall(r"[A-Za-z0-9+/_-]{8,}", text):
        for begin in range(4):
            own = run[begin : begin + (len(run) - begin) // 4 * 4].translate(str.maketrans("-_", "+/"))
            if PIECE.encode() in base64.b64decode(own):
                return True
    return False
