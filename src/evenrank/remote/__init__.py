"""Servers that the user has named: one HTTP client, and the log of what they answered.

Nothing here knows what is asked. Whoever uses it gets timeouts, retries, a rate limit, a limit on the size
of an answer, verified TLS, no redirects to other hosts, and secrets that stay out of every message and file.
"""

from __future__ import annotations

from evenrank.remote.addresses import parse_address as parse_address
from evenrank.remote.answer_log import AnswerLog as AnswerLog
from evenrank.remote.chat import ChatAnswer
from evenrank.remote.chat import ChatEndpoint as ChatEndpoint
from evenrank.remote.client import Client as Client
from evenrank.remote.client import Limits as Limits
from evenrank.remote.pace import Clock as Clock
from evenrank.remote.secrets import Secrets

__all__ = ["ChatAnswer", "Secrets"]
