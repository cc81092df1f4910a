"""The command ``planewise``."""

from __future__ import annotations

import sys
import traceback
from importlib.util import find_spec
from typing import Any

from planewise._extras import needs
from planewise.cli import _signals
from planewise.cli._streams import OutputError, shown_traceback, tell, whole_streams


def main() -> None:
    """Run the command line; without its extra, say how to install it."""
    _signals.listen()
    with whole_streams() as output:
        code = output.exit_code(_run())
        raise SystemExit(_signals.exit_code() if code in (None, 0, 130) and _signals.is_asked_to_end() else code)


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
        tell(_signals.in_words())
        return _signals.exit_code()
    except OutputError:
        pass  # `whole_streams` reports it
    except Exception:  # with --debug, or an error of ours
        sys.stderr.write(f"{shown_traceback(traceback.format_exc()).lstrip()}\n")
        return 1
    return 0
