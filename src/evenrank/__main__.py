"""``python -m evenrank`` is the command ``evenrank``: everything that can be interrupted stands inside."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process, and return its exit code."""
    try:
        from evenrank.cli.streams import hold_closed_streams

        hold_closed_streams()
        from evenrank.cli import main as run

        return run()
    except KeyboardInterrupt:  # while modules were loaded
        if sys.stderr is not None:
            sys.stderr.write("evenrank: interrupted\n")
        return 130


def entry() -> None:
    """Run the command and leave at once.

    When a process ends in the usual way, libraries in C++ take down their threads in an order that has,
    once in some hundred runs, aborted a command that was done. What it printed is flushed before.
    """
    import gc

    # a command makes many objects and ends soon: looking for unreachable ones took 5% of a report's time
    gc.set_threshold(100_000, 20, 20)
    code = main()
    import atexit
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:  # nobody reads it
            pass
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    entry()
