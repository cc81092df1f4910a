"""The command ``planewise``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from planewise._extras import needs
from planewise.cli._streams import OutputError, tell, whole_streams


def main() -> None:
    """Run the command line; without its extra, say how to install it."""
    with whole_streams() as output:
        raise SystemExit(output.exit_code(_run()))


def _run() -> Any:
    """The exit code of the command, not counting failures of its output."""
    for name in ("polars", "rich", "typer"):
        if find_spec(name) is None:
            tell(needs("The command line", name, "cli"))
            return 2
    try:
        from planewise.cli._app import app

        app(prog_name="planewise")
    except SystemExit as end:
        return end.code
    except KeyboardInterrupt:
        from planewise.cli._mistakes import INTERRUPTED

        tell(INTERRUPTED)
        return 130
    except OutputError:
        pass  # `whole_streams` reports it
    return 0
