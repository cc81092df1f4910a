"""Completion of commands and options in shells; typer answers what can follow, and these options make it known."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from planewise._atomic import write_whole
from planewise.cli._show import say
from planewise.cli._streams import tell

VARIABLE = "_PLANEWISE_COMPLETE"  # set by the script when the shell asks what can follow


class Shell(StrEnum):
    """Shells that are completed."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def show_completion(shell: Shell | None) -> None:
    """Print the script that makes a shell complete, and end; called while the options are read."""
    if shell is not None:
        typer.echo(_script(shell))
        raise typer.Exit


def install_completion(shell: Shell | None) -> None:
    """Write the script where the shell finds it, and end; no other file is touched."""
    if shell is None:
        return
    try:
        path, hint = _place(shell)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _script(shell) + "\n")
    except (OSError, RuntimeError) as error:  # a home folder that is unknown, or read-only
        what = getattr(error, "filename", None) or "the home folder"
        tell(f"{what} cannot be written: {getattr(error, 'strerror', None) or error}; nothing was installed.")
        raise typer.Exit(2) from None
    say(f"wrote {path}", hint)
    raise typer.Exit


def get_ready() -> None:
    """Let typer answer a shell that asks."""
    if VARIABLE in os.environ:
        completion_init()


def _script(shell: Shell) -> str:
    return get_completion_script(prog_name="planewise", complete_var=VARIABLE, shell=str(shell))


def _place(shell: Shell) -> tuple[Path, str]:
    """The file, and what must be said about it."""
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
        path = data / "bash-completion/completions/planewise"
        return path, (
            "New shells read it by themselves where the package bash-completion is installed; elsewhere, add this line "
            f"to ~/.bashrc: source '{path}'"
        )
    if shell == "zsh":
        return home / ".zfunc/_planewise", (
            "New shells read it if ~/.zshrc has this line: fpath+=~/.zfunc; autoload -Uz compinit; compinit"
        )
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return settings / "fish/completions/planewise.fish", "New shells read it by themselves."
