"""Fitted models with altered arrays, asked everything they can answer.

python tests/altered_models.py [--share 13] [--core FILE] [MODEL ...]

A question that the unaltered model does not answer ends the program. Every question to an altered model is printed
before it is asked, so that the last line tells what crashed. One of SHARE variants is tried; by default all. Models are
named as in ``store/catalogue.py``; by default all. FILE is another build of the compiled
module, such as the one with sanitizers that `make fuzz` makes.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import io
import pickle
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "store"))

MEMORY = 3 << 30
SECONDS = 60  # a question that takes longer does not end


# ---------------------------------------------------------------------------------------------------------- where
def arrays_in(holder: Any, path: tuple[Any, ...] = (), depth: int = 0) -> Iterator[tuple[Any, ...]]:
    """The paths to all arrays below an object: names of attributes, keys and places."""
    if isinstance(holder, np.ndarray):
        yield path
    elif depth < 6:
        for step, part in _parts(holder):
            yield from arrays_in(part, (*path, step), depth + 1)


def _parts(holder: Any) -> list[tuple[Any, Any]]:
    if isinstance(holder, dict):
        return [(("item", key), part) for key, part in holder.items()]
    if hasattr(holder, "_fields"):
        return [(("field", name), getattr(holder, name)) for name in holder._fields]
    if isinstance(holder, list | tuple):
        return [(("item", place), part) for place, part in enumerate(holder[:2])]
    if type(holder).__module__.startswith(("planewise", "sklearn")):
        named = dict(getattr(holder, "__dict__", {}))
        fixed = [(("array of trees", name), part) for name, part in named.pop("_fixed", {}).items()]
        for cls in type(holder).__mro__:
            slots = getattr(cls, "__slots__", ())
            named |= {name: getattr(holder, name) for name in slots if hasattr(holder, name)}
        return fixed + [(("attribute", name), part) for name, part in named.items()]
    return []


def changed(holder: Any, path: tuple[Any, ...], change: Callable[[np.ndarray], Any]) -> Any:
    """The holder with another array at that path; in place if it can be."""
    if not path:
        return change(holder)
    (kind, name), rest = path[0], path[1:]
    if kind == "array of trees":  # which cannot be replaced alone: other trees are made, if the arrays can be trees
        return holder.with_arrays(**{name: change(getattr(holder, name).copy())})
    if kind == "attribute":
        _set(holder, name, changed(getattr(holder, name), rest, change))
    elif kind == "field":
        return holder._replace(**{name: changed(getattr(holder, name), rest, change)})
    elif isinstance(holder, tuple):
        parts = list(holder)
        parts[name] = changed(parts[name], rest, change)
        return tuple(parts)
    else:
        holder[name] = changed(holder[name], rest, change)
    return holder


def _set(holder: Any, name: str, value: Any) -> None:
    """Past all that a class does against it."""
    if hasattr(holder, "__dict__"):
        vars(holder)[name] = value
    else:
        object.__setattr__(holder, name, value)


# ----------------------------------------------------------------------------------------------------- alterations
def _with(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        out = array.copy()
        out.flat[:: max(1, out.size // 3)] = value
        return out

    return change


def _in_place(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array.setflags(write=True)
        array.flat[:: max(1, array.size // 3)] = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else value
        return array

    return change


def _strided(array: np.ndarray) -> np.ndarray:
    return np.repeat(array, 2, axis=0)[::2]


def _byte_swapped(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder())


def _read_only(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.flags.writeable = False
    return out


ALTERATIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "None": lambda array: None,
    "empty": lambda array: array[:0],
    "shorter": lambda array: array[:-1],
    "longer": lambda array: np.concatenate([array, array]),
    "one dimension more": lambda array: array[..., None],
    "flat": lambda array: array.ravel(),
    "transposed": lambda array: array.T,
    "strided": _strided,
    "negative": _with(-1),
    "very negative": lambda array: _with(np.iinfo(array.dtype).min if array.dtype.kind == "i" else -1e30)(array),
    "huge": lambda array: _with(np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1e30)(array),
    "huge in place": _in_place(1e30),
    "huge in 64 bits": lambda array: _with(2**63 - 1)(array.astype(np.int64)),
    "not a number in place": _in_place(np.nan),
    "not a number": _with(np.nan),
    "infinite": _with(np.inf),
    "large": _with(1000),
    "zero": np.zeros_like,
    "reversed": lambda array: array[::-1].copy(),
    "objects": lambda array: array.astype(object),
    "words": lambda array: array.astype(str),
    "byte-swapped": _byte_swapped,
    "float16": lambda array: array.astype(np.float16),
    "int8": lambda array: array.astype(np.int8),
    "complex": lambda array: array.astype(complex),
    "read-only": _read_only,
    "list": lambda array: array.tolist(),
}

# ------------------------------------------------------------------------------------------------------- questions
METHODS = (
    *("predict", "predict_proba", "decision_function", "apply", "decision_path", "transform", "factor"),
    *("predict_contributions", "explain", "view_score", "predict_interval", "get_support"),
    *("staged_predict", "staged_predict_proba"),
)

# What models of the catalogue refuse though others of their family do not.
_NO_ROWS = ("C", "ONNX")
REFUSED = {
    "boosting, one class": ("tree",),
    "boosting, stopped early": ("continue",),
    "boosting, offset": ("continue", "partition"),
    "boosting, ranking": ("continue", "partition"),
    "boosting, ranking, target statistics": ("continue", "partition"),
    "machine, matrix": _NO_ROWS,
    "machine for numbers, matrix": _NO_ROWS,
    "search alone": _NO_ROWS,
    "search for numbers alone": _NO_ROWS,
    "views": ("projection", "one projection"),  # of ordered categories that are words
    "sum of views, one class": ("tree", "views"),
}


def _ask(model: Any, name: str, X: Any) -> None:
    answer = getattr(model, name)() if name.startswith("get_") else getattr(model, name)(X)
    if isinstance(answer, Iterator):
        list(answer)
    str(answer)


def questions(name: str, model: Any, X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """All that a model of the catalogue answers; `X` and `y` have enough rows to fit it again."""
    from planewise import export, load, plot

    few, family = X[:5], type(model).__name__
    inner = type(getattr(model, "estimator_", model)).__name__  # of a table
    main_method = next((each for each in ("predict", "transform") if hasattr(model, each)), "get_params")
    asked: dict[str, Callable[[], Any]] = {
        each: lambda each=each: _ask(model, each, few) for each in METHODS if hasattr(model, each)
    } | {
        "repr": lambda: repr(model),
        "importances": lambda: getattr(model, "feature_importances_", None),
        "text": lambda: export.to_text(model),
        "save": lambda: load(_saved(model)),
        "pickle": lambda: _ask(pickle.loads(pickle.dumps(model)), main_method, few),
        "deepcopy": lambda: _ask(copy.deepcopy(model), main_method, few),
    }
    if not inner.startswith(("RECIP", "Conformal", "Discriminant")):
        asked |= {"C": lambda: export.to_c(model), "ONNX": lambda: export.to_onnx(model)}
    if "warm_start" in model.get_params():
        asked["continue"] = lambda: _continue(model, X, y)
    if main_method == "predict" and family != "TableModel":
        asked["partition"] = lambda: plot.PartitionDisplay.from_estimator(model, X, y, resolution=5)
    if hasattr(model, "tree_") or hasattr(model, "forest_"):
        asked["tree"] = lambda: plot.TreeDisplay.from_estimator(model)
    if family.startswith("RECIP"):
        asked["projection"] = lambda: plot.ProjectionDisplay.from_estimator(model, X, y, few)
        asked["one projection"] = lambda: plot.ProjectionDisplay.from_explanation(
            model.explain(few)[0], X, y, resolution=5
        )
    if family.startswith("Additive"):
        asked["views"] = lambda: plot.ViewsDisplay.from_estimator(model, resolution=5)
    return {each: ask for each, ask in asked.items() if each not in REFUSED.get(name, ())}


def _saved(model: Any) -> Any:
    from planewise import save

    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


def _continue(model: Any, X: Any, y: Any) -> None:
    more = {"n_estimators": model.n_estimators + 1} if "n_estimators" in model.get_params() else {}
    copy.deepcopy(model).set_params(warm_start=True, **more).fit(X, y)


def main(share: int, names: list[str]) -> None:
    from catalogue import CATALOGUE, fitted

    for name in names or CATALOGUE:
        model, X = fitted(name)
        y = model.predict(X) if hasattr(model, "predict") else np.arange(len(X)) % 2
        for question, ask in questions(name, model, X, y).items():
            print(name, "unaltered", question, sep=" | ", flush=True)
            ask()
        variants = [(path, each) for path in sorted(set(arrays_in(model)), key=str) for each in ALTERATIONS]
        for number, (path, alteration) in enumerate(variants):
            if number % share and not alteration.startswith("huge"):  # it found most
                continue
            altered = _altered(model, path, ALTERATIONS[alteration])
            if altered is None:
                continue
            where = ".".join(str(step) for _, step in path)
            for question, ask in questions(name, altered, X, y).items():
                print(name, where, alteration, question, sep=" | ", flush=True)
                faulthandler.dump_traceback_later(SECONDS, exit=True)
                with contextlib.suppress(Exception):
                    ask()
                faulthandler.cancel_dump_traceback_later()


def _altered(model: Any, path: tuple[Any, ...], change: Callable[[np.ndarray], Any]) -> Any:
    """A copy with the array changed; None if the array cannot be changed so."""
    # Not copy.deepcopy: its forests share their arrays.
    out = pickle.loads(pickle.dumps(model))
    try:
        with np.errstate(all="ignore"):
            return changed(out, path, change)
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError):
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--core")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    if arguments.core:
        sys.path.insert(0, str(TESTS.parent / "tools"))
        from other_core import use_core

        use_core(arguments.core)
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # sanitizers reserve more than any machine has
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(arguments.share, arguments.models)
