"""The file planewise.toml: options by their names, for all commands or, in a table, for one; the command line wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from planewise.cli._everywhere import ANYWHERE, FLAGS, SECRET, Everywhere
from planewise.cli._mistakes import MistakeError

NAME, VARIABLE = "planewise.toml", "PLANEWISE_CONFIG"
IN_FILE = set(ANYWHERE) - {"config"}


class Config:
    """What a file says, checked against the options that there are."""

    def __init__(self, path: Path, commands: Mapping[str, Any]) -> None:
        self.path = path
        known = {name: {_long(each): each for each in _options(command)} for name, command in commands.items()}
        self.everywhere: dict[str, Any] = {}
        self.by_command: dict[str, dict[str, Any]] = {name: {} for name in commands}
        tables = {}
        for name, value in _read(path).items():
            if isinstance(value, dict):
                tables[name] = value
            elif name in IN_FILE:
                self.everywhere[name] = self._checked_anywhere(name, value)
            else:
                having = [command for command, options in known.items() if name in options]
                if not having:
                    raise self._unknown(name, {each for options in known.values() for each in options} | IN_FILE)
                for command in having:
                    option = known[command][name]
                    self.by_command[command][option.name] = self._checked(name, value, option)
        for command, values in tables.items():
            if command not in known:
                hint = _hint(command, known, "[{}]")
                raise MistakeError(f"{self.path}: [{command}] is not a command{hint}")
            for name, value in values.items():
                if name not in known[command]:
                    raise self._unknown(name, known[command], command)
                option = known[command][name]
                self.by_command[command][option.name] = self._checked(f"{command}.{name}", value, option)

    def _unknown(self, name: str, known: Any, command: str = "") -> MistakeError:
        where = f"planewise {command} has no option" if command else "no command has an option"
        if command and name in IN_FILE:
            return MistakeError(f"{self.path}: {name!r} is for all commands: write it above the table [{command}].")
        return MistakeError(f"{self.path}: {where} {name!r}{_hint(name, known, '{!r}')}")

    def _checked_anywhere(self, name: str, value: Any) -> Any:
        if not isinstance(value, bool if name in FLAGS else str):
            raise self._wrong(name, value, "true or false" if name in FLAGS else "text in quotes")
        return value

    def _checked(self, name: str, value: Any, option: Any) -> Any:
        """The value, if it is of the kind that the option takes; its range is checked when it is used."""
        if getattr(option, "is_flag", False):
            if not isinstance(value, bool):
                raise self._wrong(name, value, "true or false")
        elif getattr(option, "multiple", False):
            if not isinstance(value, list) or not all(_is_plain(each) for each in value):
                raise self._wrong(name, value, 'a list such as ["one", "two"]')
        elif not _is_plain(value):
            raise self._wrong(name, value, "text in quotes or a number")
        return value

    def _wrong(self, name: str, value: Any, wanted: str) -> MistakeError:
        return MistakeError(f"{self.path}: {name!r} needs {wanted}; got {value!r}.")


def find_config(options: Everywhere, commands: Mapping[str, Any]) -> Config | None:
    """The file of --config, of the environment variable, or of the working directory; None if there is none."""
    named = options.config or os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            what = "--config" if options.config else VARIABLE
            raise MistakeError(f"{what}: there is no file {named!r}.")
        return Config(Path(named), commands)
    own = Path(NAME)
    return Config(own, commands) if own.is_file() else None


def taken(context: Any) -> list[str]:
    """The options of a command that came from the file, as they would stand on the command line."""
    found = []
    for option in _options(context.command):
        source = context.get_parameter_source(option.name)
        if source is None or source.name != "DEFAULT_MAP":
            continue
        name, value = f"--{_long(option)}", context.default_map[option.name]
        if getattr(option, "is_flag", False):
            found += [name] if value else []
        elif name in SECRET:
            found.append(f"{name} ***")
        else:
            found += [f"{name} {each}" for each in (value if isinstance(value, list) else [value])]
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise MistakeError(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise MistakeError(f"{path} is not TOML: it is not UTF-8.") from None


def _options(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option" and each.name not in ANYWHERE]


def _long(option: Any) -> str:
    """The option's name without its dashes."""
    return str(next(each for each in option.opts if each.startswith("--")))[2:]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _hint(name: str, known: Any, form: str) -> str:
    near = get_close_matches(name.replace("_", "-"), list(known), n=1, cutoff=0.5)
    return f"; did you mean {form.format(near[0])}?" if near else "."
