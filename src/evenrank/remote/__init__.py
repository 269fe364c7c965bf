"""Servers that the user has named: one HTTP client, and the log of what they answered.

Nothing here knows what is asked. Whoever uses it gets timeouts, retries, a rate limit, a limit on the size
of an answer, verified TLS, no redirects to other hosts, and secrets that stay out of every message and file.
"""

from __future__ import annotations

from evenrank.remote.addresses import Address, is_address, is_remote, parse_address
from evenrank.remote.answer_log import AnswerLog
from evenrank.remote.chat import ChatAnswer, ChatEndpoint
from evenrank.remote.client import Client, Limits
from evenrank.remote.pace import Clock, RateLimit
from evenrank.remote.secrets import Secrets

__all__ = [
    "Address",
    "AnswerLog",
    "ChatAnswer",
    "ChatEndpoint",
    "Client",
    "Clock",
    "Limits",
    "RateLimit",
    "Secrets",
    "is_address",
    "is_remote",
    "parse_address",
]
