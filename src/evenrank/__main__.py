"""``python -m evenrank`` is the command ``evenrank``."""

from evenrank.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
