"""The command: its mistakes, the labels it gives back, and a server that is killed in the middle of saving."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import url2pathname

import polars as pl
import pytest
from tests.answers.recording import unsealed
from typer.testing import CliRunner

import planewise
from clean_shell import enter_clean_shell
from planewise.app._review import Asked
from planewise.cli._app import app as command


@pytest.fixture
def files(models, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    enter_clean_shell(monkeypatch, COLUMNS="120")
    planewise.save(models("boost"), "model.planewise")
    table.drop("price", "class").write_csv("cases.csv")
    return ["model.planewise", "cases.csv"]


def run(*args):
    return CliRunner().invoke(command, ["review", *map(str, args)], catch_exceptions=False)


def mistake(*args):
    done = run(*args)
    assert done.exit_code == 2, done.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--host", "0.0.0.0"], "so it needs --token"),
        (["--host", "192.168.1.7"], "so it needs --token"),
        (["--token", "short"], "token must consist of 16 to 200"),
        (["--id-column", "kay"], "did you mean 'key'"),
        (["--who", " "], "who must be the name"),
        (["--answers", "nowhere/a.jsonl"], "a file in an existing folder"),
        (["--answers", "cases.csv"], "is not a file of answers"),
        (["--export", "labels.txt"], "must end in one of"),
        (["--export", "labels.csv"], "there is no file"),
        (["--export", "cases.csv"], "cannot be replaced"),
    ],
)
def test_mistakes_are_told_in_a_line(files, more, words):
    said = mistake(*files, *more)
    assert words in said and "Traceback" not in said


def test_models_come_from_safe_files_only(files):
    Path("evil.planewise").write_bytes(b"\x80\x04cos\nsystem\n(S'touch ran'\ntR.")
    assert "is not a model file" in mistake("evil.planewise", "cases.csv") and not Path("ran").exists()
    assert "there is no file" in mistake("model.planewise", "nothing.csv")


def test_decisions_are_exported_beside_the_columns_of_the_table(files, models, table):
    from planewise.app import create_app
    from planewise.files import InputTable

    model = models("boost")
    rows = InputTable(["cases.csv"]).read_all(model.columns_)
    app = create_app(model, rows, answers="cases.answers.jsonl", who="Ada")
    assert "holds no decision yet" in mistake(*files, "--export", "labels.csv")
    for row in (5, 3):
        app.state.review.decide(row, Asked(secrets.token_hex(16), "accept"))
    done = run(*files, "--export", "labels.csv")  # while the review is open
    assert done.exit_code == 0 and "2 rows in labels.csv: 4 columns as they are" in done.stdout
    got = pl.read_csv("labels.csv")
    assert got["key"].to_list() == ["P-0003", "P-0005"]
    assert got["review_label"].to_list() == [app.state.review.answer(row) for row in (3, 5)]
    everything = run(*files, "--export", "all.tsv", "--all-rows")
    assert everything.exit_code == 0 and pl.read_csv("all.tsv", separator="\t").height == 120
    assert "--all-rows is for --export" in mistake(*files, "--all-rows")
    assert "exists; use --force" in mistake(*files, "--export", "labels.csv")
    assert run(*files, "--export", "labels.parquet").exit_code == 0 and pl.read_parquet("labels.parquet").height == 2
    assert "open in another review" in mistake(*files, "--no-browser")
    app.state.review.close()


def test_damaged_answers_are_refused_and_repaired(files, models):
    from planewise.app import create_app
    from planewise.files import InputTable

    model, answers = models("boost"), Path("cases.answers.jsonl")
    rows = InputTable(["cases.csv"]).read_all(model.columns_)
    review = create_app(model, rows, answers=answers, who="Ada").state.review
    for row in (5, 3):
        review.decide(row, Asked(secrets.token_hex(16), "accept"))
    review.close()
    assert "is not damaged; nothing was changed" in run(*files, "--repair").stdout
    whole = answers.read_text()
    answers.write_text(whole + '{"id": "45')
    done = run(*files, "--export", "labels.csv")
    assert done.exit_code == 0 and "the last line of cases.answers.jsonl is incomplete" in done.stderr
    answers.write_text(whole.replace('"row": 3', '"row": 4'))
    assert "Line 3 of 'cases.answers.jsonl' is damaged" in mistake(*files, "--export", "more.csv")
    assert "planewise review MODEL TABLE --repair" in mistake(*files, "--no-browser")
    assert "repair the file first" in mistake(*files, "--repair", "--export", "more.csv")
    done = run(*files, "--repair")
    assert done.exit_code == 0 and "line 3 is left out: its checksum" in done.stdout
    assert (
        "1 line kept in cases.answers.jsonl" in done.stdout
        and "the damaged file is cases.answers.jsonl.damaged1" in done.stdout
    )
    assert run(*files, "--export", "more.csv").exit_code == 0 and pl.read_csv("more.csv")["review_row"].to_list() == [5]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_a_pipe_as_answers_is_refused_in_words(files):
    os.mkfifo("pipe")
    for more in ([], ["--export", "out.csv"], ["--repair"]):
        assert "'pipe' is a pipe, not a file" in mistake(*files, "--answers", "pipe", *more)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_to_itself_as_answers_is_refused_in_words(files):
    Path("loop.jsonl").symlink_to("loop.jsonl")
    for more, words in (
        ([], "symbolic link"),
        (["--repair"], "symbolic link"),
        (["--export", "out.csv"], "symbolic links"),
    ):
        assert words in mistake(*files, "--answers", "loop.jsonl", *more)


@pytest.mark.parametrize(
    ("old", "new"), [('"rows": 120', '"rows": 3'), ('"id": "key"', '"id": []'), ('"id": "key"', '"id": "kez"')]
)
def test_a_repaired_file_can_be_exported(files, models, old, new):
    """Of version 2, whose first line has no checksum that says what is damaged in it."""
    from planewise.files import InputTable

    make_answers(models, InputTable(["cases.csv"]).read_all(models("boost").columns_), id_column="key")
    text = unsealed(Path("cases.answers.jsonl").read_text())
    assert old in text
    Path("cases.answers.jsonl").write_text(text.replace(old, new))
    mistake(*files, "--export", "out.csv")
    done = run(*files, "--repair", *(["--id-column", "key"] if "id" in new else []))
    assert (
        done.exit_code == 0 and "1 line kept" in done.stdout and "line 1 is left out: what it says about" in done.stdout
    )
    assert run(*files, "--export", "out.csv").exit_code == 0
    assert "is not damaged" in run(*files, "--repair").stdout


def test_a_file_about_another_table_is_not_called_intact(files, models, table):
    make_answers(models, table.head(7))
    assert "holds answers about another table" in mistake(*files, "--repair")


def make_answers(models, cases, **more):
    from planewise.app import create_app

    review = create_app(models("boost"), cases, answers="cases.answers.jsonl", who="Ada", **more).state.review
    review.decide(5, Asked("a" * 32, "accept"))
    review.close()


def test_the_id_of_a_review_is_that_of_its_file(files, models, table):
    from planewise.app import create_app
    from planewise.files import InputTable

    model = models("boost")
    rows = InputTable(["cases.csv"]).read_all(model.columns_)
    app = create_app(model, rows, answers="cases.answers.jsonl", who="Ada", id_column="key")
    app.state.review.decide(5, Asked(secrets.token_hex(16), "accept"))
    app.state.review.close()
    assert run(*files, "--export", "labels.csv").exit_code == 0
    assert run(*files, "--export", "again.csv", "--id-column", "key").exit_code == 0
    assert "was started with --id-column key" in mistake(*files, "--export", "other.csv", "--id-column", "town")
    assert "was started with --id-column key" in mistake(*files, "--id-column", "town")


TOKEN = "a+b&c=d%41#0123456789"


@pytest.fixture
def served(monkeypatch):
    """What is printed and opened when the server would listen; it ends then as if by Ctrl-C."""
    opened = threading.Event()
    opened.expected = True

    def listen(app, host, port, listening):
        listening(1234)
        app.state.review.decide(3, Asked(secrets.token_hex(16), "accept"))
        assert not opened.expected or opened.wait(20)
        opened.keys = app.state.keys
        raise KeyboardInterrupt

    def browser(address):
        opened.address, opened.thread = address, threading.current_thread()
        opened.file = Path(url2pathname(urlsplit(address).path))
        opened.content = opened.file.read_text(encoding="utf-8")
        opened.modes = [stat.S_IMODE(each.stat().st_mode) for each in (opened.file, opened.file.parent)]
        opened.set()

    monkeypatch.setattr("planewise.app.server.serve", listen)
    monkeypatch.setattr("webbrowser.open", browser)
    return opened


@pytest.mark.parametrize("how", ["option", "variable"])
def test_the_printed_address_leads_in_whatever_the_token_holds(files, served, monkeypatch, how):
    if how == "variable":
        monkeypatch.setenv("PLANEWISE_REVIEW_TOKEN", TOKEN)
    done = run(*files, "--who", "Ada", *(["--token", TOKEN] if how == "option" else []))
    assert done.exit_code == 0, done.stderr
    address = re.search(r"review +(\S+)", done.stdout).group(1)
    assert parse_qs(urlsplit(address).query) == {"token": [TOKEN]} and urlsplit(address).fragment == ""
    assert served.thread is not threading.main_thread() and served.thread.daemon


def test_the_command_of_the_browser_holds_no_secret(files, served):
    """Every user of the machine can read the commands that run on it."""
    assert run(*files, "--who", "Ada", "--token", TOKEN).exit_code == 0
    code = re.search(r"http://127\.0\.0\.1:1234/\?code=([\w-]{32,})", served.content).group(1)
    assert served.address.startswith("file:///") and quote(TOKEN, safe="") not in served.content
    keys = served.keys
    for secret in (code, TOKEN, quote(TOKEN, safe=""), keys.session, keys.form, keys.path, keys.cookie):
        assert secret not in served.address


def test_the_file_that_leads_in_is_private_and_gone_afterwards(files, served):
    assert run(*files, "--who", "Ada").exit_code == 0
    assert not served.file.exists() and not served.file.parent.exists()
    if sys.platform != "win32":
        assert served.modes == [0o600, 0o700]


def test_where_no_file_can_be_private_no_browser_is_opened(files, served, monkeypatch, tmp_path):
    """Some network and USB drives show every file to everybody, whatever is asked of them."""
    served.expected = False
    monkeypatch.setattr("planewise.app.server.is_private", lambda folder: False)
    for name in ("HOME", "USERPROFILE", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = sorted(Path().iterdir())
    done = run(*files, "--who", "Ada")
    assert done.exit_code == 0 and "open the address above yourself" in done.stdout
    assert not served.is_set() and set(Path().iterdir()) - set(before) == {Path("cases.answers.jsonl")}


BROWSER = """
import http.client, json, pathlib, re, sys, urllib.parse, urllib.request
told = {"command": sys.argv[1:]}
try:
    file = pathlib.Path(urllib.request.url2pathname(urllib.parse.urlsplit(sys.argv[1]).path))
    told["file"] = str(file)
    host, code = re.search(r'url=http://([\\w.:]+)/([^"]+)"', file.read_text()).groups()
    if FOLLOWS:
        link = http.client.HTTPConnection(host)
        link.request("GET", "/" + code, headers={"sec-fetch-site": "cross-site"})
        answer = link.getresponse()
        body, cookie = answer.read().decode(), answer.headers["set-cookie"].partition(";")[0]
        told |= {"left": file.parent.exists()}
        link.request("GET", re.search('url=(/[^"]+)', body).group(1) + "case/0", headers={"cookie": cookie})
        told |= {"page": link.getresponse().status}
finally:
    print("opened", json.dumps(told), flush=True)
"""


def opened(files, script, how_to_end, monkeypatch, follows):
    """A review whose browser is a script: what it saw, whether its file was still there, and how the review ended."""
    script.write_text(BROWSER.replace("FOLLOWS", str(follows)), encoding="utf-8")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    call = [sys.executable, "-m", "planewise.cli", "review", *files, "--who", "Ada"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            told = next(json.loads(line[7:]) for line in process.stdout if line.startswith("opened "))
            there = Path(told["file"]).exists()
            process.send_signal(how_to_end)
            said, wrong = process.communicate(timeout=60)
        finally:
            process.kill()
    assert told["command"] == [Path(told["file"]).as_uri()], wrong
    return told, there, SimpleNamespace(code=process.returncode, said=said, wrong=wrong)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_browser_is_led_in_by_a_file_that_is_then_gone_and_ctrl_c_ends_the_review(files, tmp_path, monkeypatch):
    told, there, end = opened(files, tmp_path / "browser.py", signal.SIGINT, monkeypatch, follows=True)
    assert told["page"] == 200 and not told["left"] and not there
    assert end.code == 0, end.wrong
    assert "ended with 0 decisions in cases.answers.jsonl" in end.said and "interrupted" not in end.wrong


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("end", ["SIGTERM", "SIGHUP"])
def test_a_file_that_no_browser_followed_is_gone_when_the_review_is_terminated(files, tmp_path, monkeypatch, end):
    before = signal.signal(getattr(signal, end), signal.SIG_DFL)  # nohup makes processes ignore SIGHUP
    try:
        told, there, _ = opened(files, tmp_path / "browser.py", getattr(signal, end), monkeypatch, follows=False)
    finally:
        signal.signal(getattr(signal, end), before)
    assert there and not Path(told["file"]).parent.exists()


def test_other_machines_may_come_with_the_token_of_the_environment(files, served, monkeypatch):
    served.expected = False
    monkeypatch.setenv("PLANEWISE_REVIEW_TOKEN", TOKEN)
    assert run(*files, "--who", "Ada", "--host", "0.0.0.0", "--no-browser").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_server_killed_while_saving_loses_nothing_and_doubles_nothing(files):
    from benchmarks.review.crash import crash

    found = crash(files, Path("cases.answers.jsonl"), 120, kills=3, least=20)
    assert found["lost"] == found["doubled"] == 0
    assert found["confirmed"] >= 60 and found["saved"] == found["tried"]


def test_the_end_of_a_review_says_how_far_two_reviewers_agree(files, served):
    served.expected = False
    for who in ("Ada", "Bob"):
        done = run(*files, "--who", who, "--no-browser")
        assert done.exit_code == 0, done.stderr
    assert "ended with 2 decisions in cases.answers.jsonl (1 by Ada, 1 by Bob)" in done.stdout
    assert "agreement of Ada and Bob: 1 of 1 cases equal (100 %), Cohen's kappa is not defined" in done.stdout
