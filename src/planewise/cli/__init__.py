"""The command ``planewise``."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line; without its extra, say how to get it."""
    for name in ("polars", "rich", "typer"):
        if find_spec(name) is None:
            sys.stderr.write(f"planewise: {name} is missing; the command line needs: pip install 'planewise[cli]'\n")
            raise SystemExit(2)
    from planewise.cli._mistakes import INTERRUPTED, in_words, nobody_listens, tell

    try:
        from planewise.cli._app import app

        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a full disk or a reader that has gone can still be told
    except KeyboardInterrupt:
        tell(INTERRUPTED)
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(nobody_listens()) from None
    except OSError as error:
        nobody_listens()
        tell(in_words(error))
        raise SystemExit(2) from None
