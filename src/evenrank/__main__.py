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


if __name__ == "__main__":
    sys.exit(main())
