"""What the fuzzer's targets try, that they notice what is wrong, and that a run says so."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

from planewise import SLMBoostRegressor
from planewise.data import InputTable

ROOT = Path(__file__).resolve().parent.parent.parent
if not (ROOT / "tools" / "fuzz").is_dir():
    pytest.skip("the fuzzer is in the checkout", allow_module_level=True)
sys.path.insert(0, str(ROOT / "tools" / "fuzz"))

from drawing import Draw  # noqa: E402
from target import NAMES, kept, target  # noqa: E402


@pytest.mark.parametrize("name", NAMES)
def test_no_seed_is_longer_than_an_input_may_be(name):
    assert max(len(seed) for seed in target(name).seeds()) <= target(name).MAX_BYTES


def test_all_seeds_of_tables_are_read():
    assert {target("tables").case(seed) for seed in target("tables").seeds()} == {"read"}


def test_rows_that_chunks_have_otherwise_are_noticed(monkeypatch):
    tables, chunks = target("tables"), InputTable.chunks
    seed = bytes(3) + b"n,word\n" + b"".join(b"%d,a\n" % k for k in range(40))
    assert tables.case(seed) == "read"

    monkeypatch.setattr(InputTable, "chunks", lambda *given: list(chunks(*given))[::-1])
    with pytest.raises(AssertionError, match="chunks have other values"):
        tables.case(seed)


@pytest.mark.filterwarnings("ignore")
def test_kept_inputs_fit_every_estimator_and_with_all_that_is_drawn_for_its_fit():
    fits, reached = target("fits"), set()
    for data in kept("fits").values():
        cls, _, given = fits.drawn(Draw(data))
        if fits.case(data) == "fitted":
            reached |= {(cls.__name__, name) for name in given}
    drawn = ("X", "y", "sample_weight", "offset", "qid", "group")
    takes = {(cls.__name__, name) for cls in fits.ESTIMATORS for name in inspect.signature(cls.fit).parameters}
    assert reached == {(cls, name) for cls, name in takes if name in drawn}


def test_only_finite_rows_must_have_finite_answers(monkeypatch):
    fits = target("fits")
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    model = SLMBoostRegressor(n_estimators=1).fit(X, y)
    with_gap = np.where(X == 3, np.nan, X)
    monkeypatch.setattr(SLMBoostRegressor, "predict", lambda self, rows: np.asarray(rows)[:, 0])
    assert fits._asked(model, X, with_gap) == "fitted"

    monkeypatch.setattr(SLMBoostRegressor, "predict", lambda self, rows: np.full(len(rows), np.inf))
    with pytest.raises(AssertionError, match="predict is not finite"):
        fits._asked(model, with_gap, X)


def test_a_run_without_all_its_cases_says_so_and_fails(capsys):
    spec = importlib.util.spec_from_file_location("fuzz_main", ROOT / "tools" / "fuzz" / "__main__.py")
    fuzz = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_main"] = fuzz  # dataclasses look their module up
    spec.loader.exec_module(fuzz)
    try:
        process = fuzz.Process(Path())
        process.counts = lambda: [40, 59]
        assert fuzz.had_all("tables", [process], 99)
        assert not fuzz.had_all("tables", [process], 100)
        assert capsys.readouterr().out == "tables: only 99 of 100 cases were tried: give more minutes\n"
    finally:
        del sys.modules["fuzz_main"]
