"""Text of strangers in models, tables, names and arguments: no command lets it steer the terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clean_shell import clean_environment
from planewise.store.container import packed, unpacked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")

HIDING = "\r\x1b[1A\x1b[2K\x1b[8m"  # overwrites the line above, in sequences that our own colours and bars use too
EVIL = HIDING + "\x1b[2J\x1b]0;gone\x07\x9b31m\u202e\u2066\u2028\x85\r\x7f\x08\nplanewise: verified by audit"
OWN = re.compile("\x1b\\[[0-9;]*m|\r|\x1b\\[[0-9]*[AK]|\x1b\\[\\?25[lh]")  # colours, and what moves a progress bar
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

# One process for all commands: most of the time of each would be the start of Python and its libraries.
ALL = """
import json, sys
from pathlib import Path
from planewise.cli import main
for command in json.loads(Path("commands.json").read_text()):
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as end:
        Path("ends.txt").open("a").write(f"{end.code or 0}\\n")
"""


def run_all(commands, terminal):
    """The exit codes of the commands, and all that they print, at a terminal or into a pipe."""
    Path("commands.json").write_text(json.dumps(commands))
    Path("ends.txt").unlink(missing_ok=True)
    main, side = os.openpty() if terminal else os.pipe()
    env = clean_environment(COLUMNS="200", TERM="xterm-256color")
    with subprocess.Popen([sys.executable, "-c", ALL], stdin=side, stdout=side, stderr=side, env=env) as process:
        os.close(side)
        printed = b"".join(iter(lambda: _read(main), b""))
    os.close(main)
    assert process.returncode == 0, printed.decode()
    text = printed.decode().replace("\r\n", "\n") if terminal else printed.decode()
    return list(map(int, Path("ends.txt").read_text().split())), text


def _read(number):
    try:
        return os.read(number, 1 << 16)
    except OSError:  # a terminal whose other side is closed
        return b""


@pytest.fixture
def model():
    """A model whose names, labels and categories are hostile, beside its table; in files of hostile names."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    table = {
        f"a{EVIL}": x,
        f"town{EVIL}": rng.choice([f"Ulm{EVIL}", "Bonn"], 90),
        f"y{EVIL}": np.where(x > 0, f"yes{EVIL}", f"no{EVIL}"),
        f"id{EVIL}": [f"{k}{EVIL}" for k in range(90)],
    }
    pl.DataFrame(table).write_parquet(f"t{EVIL}.parquet")
    pl.DataFrame(table).write_csv(f"t{EVIL}.csv", quote_style="always")
    pl.DataFrame({f"a{EVIL}": [f"high{EVIL}"], f"town{EVIL}": ["Ulm"]}).write_parquet("wrong.parquet")
    return f"m{EVIL}.planewise"


def commands(model):
    """Every command, as asked for and as refused."""
    table, text, target = f"t{EVIL}.parquet", f"t{EVIL}.csv", f"y{EVIL}"
    fine = [
        ["fit", table, "--target", target, "--model", "tree", "--out", model, "--force", "--drop", f"id{EVIL}"],
        ["describe", model],
        ["describe", model, "--json"],
        ["describe", model, "--html", "-"],
        ["predict", model, table, "--keep", f"id{EVIL}", "--proba"],
        ["predict", model, table, "--keep", f"id{EVIL}", "--out", f"p{EVIL}.csv", "--force"],
        ["explain", model, table, "--row", "0"],
        ["explain", model, table, "--id", f"3{EVIL}", "--id-column", f"id{EVIL}"],
        ["explain", model, table, "--row", "0", "--json"],
        ["explain", model, table, "--row", "0", "--html", "-"],
        ["export", model, "--to", "text"],
        ["export", model, "--to", "c", "--out", "-"],
        ["export", model, "--to", "html", "--out", "-"],
    ]
    wrong = [
        ["fit", text, "--target", target],
        ["fit", table, "--target", f"z{EVIL}"],
        ["fit", table, "--target", target, "--model", "tree", "--set", f"depth{EVIL}=3"],
        ["fit", table, "--target", target, "--drop", f"b{EVIL}"],
        ["fit", f"nothing{EVIL}.csv", "--target", target],
        ["fit", text, "--target", target, "--separator", f";{EVIL}"],
        ["predict", model, "wrong.parquet"],
        ["predict", table, model],
        ["predict", model, table, "--keep", f"b{EVIL}"],
        ["explain", model, table, "--id", f"x{EVIL}", "--id-column", f"id{EVIL}"],
    ]
    return fine, wrong


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_no_command_lets_text_of_strangers_steer_the_terminal(model, terminal):
    fine, wrong = commands(model)
    if not terminal:  # a program gets what is printed for programs as it is
        fine = [each for each in fine if "-" not in each and each[0] != "predict"]
    ends, printed = run_all(fine + wrong, terminal)
    assert ends[: len(fine)] == [0] * len(fine), printed
    assert set(ends[len(fine) :]) <= {1, 2}, printed
    check(printed)
    if not terminal:  # which breaks long lines anywhere
        assert not [line for line in printed.splitlines() if line.startswith("planewise: verified")]


def check(printed):
    assert HIDING not in printed and "\x1b[8m" not in printed, printed  # some of it would pass as our own below
    left = OWN.sub("", printed)
    assert not (found := STEERING.search(left)), left[max(0, found.start() - 300) : found.end() + 50]
    assert r"\x1b[2J" in left


def forged(content, change):
    """Model files, each with one string that is hostile; the checksum is right."""
    parts = unpacked(content)

    def places(value, way=()):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(each, str):
                yield (*way, key)
            elif isinstance(each, (dict, list)):
                yield from places(each, (*way, key))

    for way in places(parts.document):
        model = json.loads(json.dumps(parts.document))
        inner = model
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = change(inner[way[-1]])
        yield packed(parts._replace(document=model))


def test_no_string_of_a_model_file_steers_the_terminal(fitted):
    content = Path(fitted("tree")).read_bytes()
    names = []
    for number, each in enumerate(forged(content, lambda text: text + EVIL)):
        names.append(f"{number}.planewise")
        Path(names[-1]).write_bytes(each)
    assert len(names) > 30
    _, printed = run_all([["describe", name] for name in names], terminal=True)
    check(printed)


def test_what_is_printed_for_programs_has_every_byte_of_the_data(model):
    fine, _ = commands(model)
    fit, predict = fine[0], ["predict", model, f"t{EVIL}.parquet", "--keep", f"id{EVIL}", "--out", "-"]
    run_all([fit], terminal=False)
    _, printed = run_all([predict], terminal=False)
    read = pl.read_csv(printed.encode(), has_header=False, skip_rows=0, infer_schema=False, new_columns=["id", "label"])
    assert read["id"][-1] == f"89{EVIL}" and read["label"][-1] in (f"yes{EVIL}", f"no{EVIL}")


def test_json_escapes_what_a_terminal_would_obey_and_means_the_same(model):
    fine, _ = commands(model)
    run_all(fine[:1], terminal=False)
    _, printed = run_all([["describe", model, "--json"]], terminal=False)
    assert not STEERING.search(printed)
    assert json.loads(printed)["target"] == f"y{EVIL}"
