"""Files that are there whole or not at all, also when the process that writes them is killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clean_shell import clean_environment, run_python
from planewise import _atomic
from planewise._atomic import replacing, write_whole

needs_unnamed = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without names, of Linux")

WRITES = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, for one, lets programs ignore it
from planewise._atomic import replacing
with replacing("model.planewise") as file:
    file.write(b"half" * 100_000)
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["unnamed", "named"])
def both(request, monkeypatch):
    """With files that have no name until they are whole, and without."""
    if request.param == "named":
        monkeypatch.setattr(_atomic, "_open_unnamed", lambda folder: None)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@needs_unnamed
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_process_that_is_killed_while_it_writes_leaves_nothing(number, tmp_path):
    (tmp_path / "model.planewise").write_bytes(b"before")
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": clean_environment(), "cwd": tmp_path}
    with subprocess.Popen([sys.executable, "-c", WRITES], **how) as process:
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(number)
    assert process.returncode == -number
    assert names(tmp_path) == ["model.planewise"]
    assert (tmp_path / "model.planewise").read_bytes() == b"before"


@needs_unnamed
def test_a_file_has_no_name_until_it_is_whole(tmp_path):
    with replacing(tmp_path / "a") as file:
        file.write(b"content")
        assert names(tmp_path) == []
    assert (tmp_path / "a").read_bytes() == b"content"


def test_a_file_is_replaced_with_its_rights_and_nothing_else_is_left(both, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_whole("a", "one")
    mask = os.umask(0)
    os.umask(mask)
    assert os.name != "posix" or Path("a").stat().st_mode & 0o777 == 0o666 & ~mask
    Path("a").chmod(0o600)
    write_whole("a", "two")
    assert Path("a").read_text() == "two" and Path("a").stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["a"]


def test_an_error_leaves_what_was_there(both, tmp_path):
    write_whole(tmp_path / "a", "before")

    def half(file):
        file.write(b"half")
        raise RuntimeError

    with pytest.raises(RuntimeError), replacing(tmp_path / "a") as file:
        half(file)
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "before"


@needs_unnamed
def test_a_file_system_without_unnamed_files_gets_named_ones(tmp_path, monkeypatch):
    def refuse(path, flags, *more, inner=os.open, **how):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return inner(path, flags, *more, **how)

    monkeypatch.setattr(os, "open", refuse)
    with replacing(tmp_path / "a") as file:
        assert [name.endswith(".part") for name in names(tmp_path)] == [True]
        file.write(b"content")
    assert names(tmp_path) == ["a"]


needs_groups = pytest.mark.skipif(not hasattr(os, "chown"), reason="groups of POSIX")


@needs_groups
@pytest.mark.parametrize("allowed", [True, False])
def test_a_file_of_a_group_stays_that_groups_or_is_for_its_owner_only(both, tmp_path, monkeypatch, allowed):
    write_whole(tmp_path / "a", "one")
    (tmp_path / "a").chmod(0o664)
    own, asked = os.stat_result, []

    def foreign(path, *more, inner=Path.stat, **how):
        found = list(inner(path, *more, **how))
        found[stat.ST_GID] += path.name == "a"
        return own(found)

    def give(name, owner, group):
        asked.append((owner, group, stat.S_IMODE(os.stat(name).st_mode)))
        if not allowed:
            raise PermissionError

    monkeypatch.setattr(Path, "stat", foreign)
    monkeypatch.setattr(os, "chown", give)
    write_whole(tmp_path / "a", "two")
    assert asked == [(-1, os.stat(tmp_path / "a").st_gid + 1, 0o600)]  # before anybody but the owner may read it
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == (0o664 if allowed else 0o604)


@needs_groups
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the administrator can choose a group")
def test_the_group_of_a_replaced_file_is_kept(both, tmp_path):
    write_whole(tmp_path / "a", "one")
    os.chown(tmp_path / "a", -1, 12345)
    (tmp_path / "a").chmod(0o660)
    write_whole(tmp_path / "a", "two")
    found = (tmp_path / "a").stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 0o660)


# One process saves two models in turn for ever; another one kills it, at another moment each time.
KILLED_SAVES = """
import os, signal, time, warnings
import planewise
from sklearn.datasets import load_iris

warnings.simplefilter("ignore")  # newer Pythons warn of forks
X, y = load_iris(return_X_y=True)
models = [planewise.SLMForestClassifier(n_estimators=n, random_state=0).fit(X, y) for n in (5, 50)]
planewise.save(models[0], "model.planewise")
for moment in range(60):
    child = os.fork()
    while child == 0:
        for model in models:
            planewise.save(model, "model.planewise")
    time.sleep(0.001 + 0.0007 * moment)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert planewise.load("model.planewise").get_params()["n_estimators"] in (5, 50)
"""


@needs_unnamed
def test_a_save_that_is_killed_at_any_moment_leaves_a_whole_model(tmp_path):
    done = run_python("-c", KILLED_SAVES, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
