"""Runs and everything that is known about them, read and checked once: ``Inputs``."""

from evenrank.inputs.inputs import Inputs, Known, Settled

__all__ = ["Inputs", "Known", "Settled"]
