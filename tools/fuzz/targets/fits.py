"""Whole fits with drawn estimators, parameters and tables: ValueError or TypeError in words, or a model that answers.

Parameters come from the limits that every estimator declares, so a new one is drawn without a change here.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from drawing import EXTREME, Draw

import planewise

OUTCOMES = ("refused", "fitted", "fitted, and complains about rows")
MAX_BYTES = 512
USES_CORE = True
WORDS = ()
ESTIMATORS = [
    getattr(planewise, name)
    for name in sorted(planewise.__all__)
    if hasattr(getattr(planewise, name), "fit") and not name.endswith("CV")
]
VALUES = (
    *(1, 2, 3, 0, 5, 16, 40, 255, 1000, 0.0, 1e-8, 0.05, 0.3, 0.5, 0.9, 1.0, 1.5, 10.0, 1e6, 1e30, 1e300, True, False),
    *(None, -1, -0.5, 2**31, 2**63, float("nan"), float("inf"), "", "x", [], [0.1, 0.9], (1, 2)),
)
FEW = {  # what a fit takes its time for, and what it would write or print
    **{"n_estimators": (2, 1, 4), "max_iter": (20, 1, 100), "n_components": (4, 1, 9), "max_views": (2, 1, 3)},
    **{"cv": (None, 2), "n_repeats": (1, 2), "max_cores": (4, 1), "n_jobs": (1, 2), "max_candidates": (5, 20)},
    **{"random_state": (0, 1), "verbose": (0,), "callbacks": (None,), "warm_start": (False,)},
}


def case(data: bytes) -> str:
    draw = Draw(data)
    cls, parameters, given = drawn(draw)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = cls(**parameters).fit(**given)
        except (ValueError, TypeError) as error:
            assert str(error).strip(), "the error has no words"
            return "refused"
        return _asked(model, given["X"], _rows(draw, given["X"]))


def drawn(draw: Draw) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """An estimator, its parameters, and what its fit is given."""
    cls = draw.choice(ESTIMATORS)
    taken = inspect.signature(cls.fit).parameters
    given = {name: value for name, value in _given(draw, cls).items() if name in taken}
    return cls, _parameters(draw, cls, given["X"].shape[1], given["y"]), given


def _asked(model: Any, X: Any, rows: Any) -> str:
    for each in (X, rows):
        known = np.isfinite(each).all()
        try:
            for ask in ("predict", "decision_function", "predict_contributions", "transform"):
                if hasattr(model, ask):
                    _check_finite(ask, getattr(model, ask)(each), known)
            if hasattr(model, "predict_proba"):
                shares = model.predict_proba(each)
                assert np.allclose(shares.sum(axis=1), 1, atol=1e-6), f"probabilities do not sum to one: {shares}"
                assert (shares >= 0).all() and (shares <= 1).all(), f"no probabilities: {shares}"
        except (ValueError, TypeError) as error:
            assert str(error).strip(), "the error has no words"
            assert each is not X, f"a model refuses the rows it was fitted on: {error}"
            return "fitted, and complains about rows"
    return "fitted"


def _check_finite(ask: str, answer: Any, known: bool) -> None:
    if known and getattr(answer, "dtype", np.dtype(object)).kind == "f":
        assert np.isfinite(answer).all(), f"{ask} is not finite: {answer}"


def _given(draw: Draw, cls: type) -> dict[str, Any]:
    """Arguments of fit, more than some estimators take."""
    X, y, rng = _table(draw, cls)
    n_rows = len(X)
    given: dict[str, Any] = {"X": X, "y": y}
    if draw.below(3) == 2:
        given["sample_weight"] = rng.random(n_rows) * draw.choice((1.0, 0.0, 1e-300, 1e300, -1.0, np.nan))
    if draw.below(3) == 2:
        given["offset"] = rng.normal(size=n_rows) * draw.choice((1.0, 0.0, 1e6, 1e300, np.inf))
    if "Ranker" in cls.__name__:
        queries = np.sort(rng.integers(0, 3, n_rows))
        if draw.below(2):
            given["group"] = np.unique(queries, return_counts=True)[1]
        else:
            given["qid"] = queries
    return given


def _table(draw: Draw, cls: type) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Rows, their target, and the generator they came from."""
    n_rows = draw.choice((12, 1, 2, 3, 5, 8, 20, 33, 64))
    n_columns = draw.choice((2, 1, 3, 5))
    rng = draw.rng()
    X = rng.normal(size=(n_rows, n_columns)) * draw.choice((1.0, 1e-30, 1e6, 1e18, 1e38, 1e-300, 1e200))
    X += draw.choice((0.0, 1.0, 1e6, 1e15, -1e30))
    for _ in range(draw.below(4)):
        column = draw.below(n_columns)
        how = draw.below(5)
        if how == 0:
            X[:, column] = draw.number()
        elif how == 1:
            X[:, column] = rng.integers(0, 1 + draw.below(5), n_rows)
        elif how == 2:
            X[draw.below(n_rows), column] = draw.choice(EXTREME)
        elif how == 3:
            X[rng.random(n_rows) < 0.3, column] = np.nan
        else:
            X[:] = X[rng.integers(0, n_rows, n_rows)]
    with np.errstate(all="ignore"):
        numbers = X[:, 0] * draw.choice((1.0, 0.0, 1e-300, 1e6, 1e100, 1e300)) + draw.number()
    if draw.rarely():
        y: np.ndarray = numbers
    elif "Regressor" in cls.__name__:
        y = numbers if draw.below(3) else np.abs(np.nan_to_num(numbers, posinf=1.0, neginf=1.0))
        if "Boost" in cls.__name__ and draw.below(8) == 7:
            y = np.column_stack([y, rng.normal(size=n_rows)])
    else:
        y = rng.integers(0, 1 + draw.choice((2, 1, 3, 9, 40)), n_rows)
    return X, y, rng


def _parameters(draw: Draw, cls: Any, n_columns: int, y: np.ndarray) -> dict[str, Any]:
    limits = cls.parameter_limits
    names = [name for name in cls._get_param_names() if name in limits]
    chosen = {name: values[0] for name, values in FEW.items() if name in names and limits[name].allows(values[0])}
    for _ in range(draw.below(8)):
        name = draw.choice(names)
        if name in FEW:
            values: Any = FEW[name]
        else:
            values = [*_special(draw, name, n_columns, y), *re.findall(r"'(\w+)'", limits[name].words), *VALUES]
            allowed = [value for value in values if _allows(limits[name], value)]
            values = values if draw.rarely() else allowed or values
        chosen[name] = draw.choice(values)
    return chosen


def _allows(limit: Any, value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool) and value > 1000:
        return False  # more work than a case may have
    return bool(limit.allows(value))


def _special(draw: Draw, name: str, n_columns: int, y: np.ndarray) -> list[Any]:
    """Values of parameters whose limits have no words for them."""
    if name == "monotonic_cst":
        return [[draw.below(3) - 1 for _ in range(n_columns)], [1] * (n_columns + 1)]
    if name == "interaction_cst":
        return [[[0], list(range(n_columns))], [[draw.below(n_columns)]], [[n_columns]], "pairwise", "no_interactions"]
    if name == "categorical_features":
        return [[0], [draw.below(n_columns)], [n_columns], [True] * n_columns, None]
    if name == "class_weight":
        return [{label: draw.choice((1.0, 0.0, 1e-300, 1e300)) for label in np.unique(y).tolist()[:50]}, "balanced"]
    if name == "projections":
        return [[(0,)], [(0, n_columns - 1)], [(n_columns,)]]
    return []


def _rows(draw: Draw, X: np.ndarray) -> np.ndarray:
    """Other rows to ask about, some with extreme values, which may be missing or infinite."""
    rows = np.array(X[: 1 + draw.below(4)])
    for _ in range(draw.below(4)):
        rows[draw.below(len(rows)), draw.below(rows.shape[1])] = draw.choice(EXTREME)
    return rows


def seeds() -> Iterable[bytes]:
    for place in range(len(ESTIMATORS)):
        for other in range(3):
            yield bytes([place]) + np.random.default_rng([place, other]).bytes(60)
