"""Compare fitted models with the digests in tools/fits.json, or record new digests.

``make fits`` fits every model of the tests' catalogue, and each family on three data sets of scikit-learn. It prints
each fitted attribute, score or C text that differs from its recorded digest and exits with 1 if there is any.
``make fits ACCEPT=1`` writes the file instead; the commit then says which digests moved and why.

Trees, forests, boosting, additive models and RECIP must be the same to the bit. Kernel machines, and two figures of
additive models, are computed with BLAS: they are compared to the bit when NumPy, SciPy and BLAS are the recorded ones.
Otherwise the number of vectors may differ by 2 and the scores by 1e-6 (1e-2 for the large machine's float32 descent).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from tests.store.catalogue import CATALOGUE
from threadpoolctl import threadpool_info, threadpool_limits

import planewise as pw
from planewise.export import to_c
from planewise.trees import Forest

FILE = Path(__file__).with_name("fits.json")
N_SCORES = 8  # scores kept as numbers, for kernel machines on other versions of BLAS
NOT_FITTED = {"n_features_in_", "feature_names_in_", "cv_results_", "record_"}  # given, or with dates and times
BY_BLAS = {"validation_loss_", "projection_importance_"}  # of additive models
FAMILIES: dict[str, tuple[type, type | None, dict[str, Any]]] = {
    "tree": (pw.SLMClassifier, pw.SLMRegressor, {"random_state": 0}),
    "forest": (pw.SLMForestClassifier, pw.SLMForestRegressor, {"random_state": 0}),
    "boosting": (pw.SLMBoostClassifier, pw.SLMBoostRegressor, {"random_state": 0}),
    "additive": (pw.AdditiveClassifier, pw.AdditiveRegressor, {"random_state": 0}),
    "kernel": (pw.MCMClassifier, pw.MCMRegressor, {}),
    "recip": (pw.RECIPClassifier, None, {"random_state": 0}),
}


def models() -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each model, the fitted model, and rows to predict."""
    for name, (fit, X) in CATALOGUE.items():
        np.random.seed(0)  # noqa: NPY002 - some searches of the catalogue have no random_state
        yield name, fit(), X
    for family, (classifier, regressor, settings) in FAMILIES.items():
        for load in (load_breast_cancer, load_wine, load_diabetes):
            X, y = load(return_X_y=True)
            if cls := regressor if load is load_diabetes else classifier:
                yield f"{family} on {load.__name__[5:]}", cls(**settings).fit(X[::2], y[::2]), X[1::2]


def fitted_arrays(value: Any, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each array and number below a fitted attribute."""
    if isinstance(value, BaseEstimator | Forest):
        for name in sorted({name for name in dir(type(value)) if not name.startswith("_")} | vars(value).keys()):
            public = not name.startswith("_") and name not in NOT_FITTED
            if public and (isinstance(value, Forest) or name.endswith("_")):
                try:
                    yield from fitted_arrays(getattr(value, name), f"{path}.{name}".lstrip("."))
                except AttributeError:  # fitted attributes that other settings would have
                    continue
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from fitted_arrays(each, f"{path}[{key}]")
    elif isinstance(value, list | tuple) and not all(isinstance(each, str | int | float | bool) for each in value):
        for k, each in enumerate(value):
            yield from fitted_arrays(each, f"{path}[{k}]")
    elif isinstance(value, np.ndarray | np.generic | list | tuple | str | int | float | bool):
        array = np.asarray(value)
        words = array.dtype.kind in "OUT"
        yield path, repr(array.tolist()).encode() if words else array.dtype.str.encode() + array.tobytes()


def scores(model: Any, X: Any) -> np.ndarray:
    """Return what the model computes for rows, before any link function where it can be asked for that."""
    methods = ("decision_function", "predict_proba", "predict", "transform", "factor")
    method = next((name for name in methods if hasattr(model, name)), None)
    return np.asarray(getattr(model, method)(X) if method else [])


def entry(model: Any, X: Any) -> dict[str, Any]:
    """Return the digests of a model; of a kernel machine also the numbers to compare loosely."""
    computed = scores(model, X)
    parts: dict[str, list[bytes]] = {}
    for path, content in fitted_arrays(model, ""):
        parts.setdefault(path.split("[")[0], []).append(path.encode() + content)
    parts["scores"] = [repr(computed.tolist()).encode()]
    with contextlib.suppress(TypeError, ValueError):  # RECIP and selectors have no C form
        parts["C"] = [to_c(model).encode()]
    found: dict[str, Any] = {name: hashlib.sha256(b"".join(each)).hexdigest()[:12] for name, each in parts.items()}
    estimator = getattr(model, "estimator_", model)
    if type(estimator).__module__.startswith("planewise.machines"):
        found["n_vectors"] = int(np.sum(getattr(estimator, "n_support_", 0)))
        found["first_scores"] = np.ravel(computed)[:N_SCORES].tolist() if computed.dtype.kind == "f" else []
        found["tolerance"] = 1e-2 if isinstance(estimator, pw.LargeScaleMCMClassifier) else 1e-6
    return found


def versions() -> dict[str, str]:
    """Return what the kernel machines' last bits depend on."""
    blas = sorted(
        {f"{each['internal_api']} {each['version']} {each.get('architecture')}" for each in threadpool_info()}
    )
    return {"numpy": np.__version__, "scipy": scipy.__version__, "BLAS": ", ".join(blas)}


def moved(kept: dict[str, Any], found: dict[str, Any], exact: bool) -> list[str]:
    """Return the names of what differs."""
    if exact or "n_vectors" not in kept:
        names = sorted(name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name))
        return [name for name in names if exact or name.split(".")[-1] not in BY_BLAS]
    same_vectors = abs(kept["n_vectors"] - found.get("n_vectors", -9)) <= 2
    a, b, tolerance = np.array(kept["first_scores"]), np.array(found.get("first_scores", [])), kept["tolerance"]
    same_scores = a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance)
    return ["n_vectors"] * (not same_vectors) + ["first_scores"] * (not same_scores)


def main() -> int:
    warnings.simplefilter("ignore")
    with threadpool_limits(1):  # BLAS adds in another order with more threads
        found = {name: entry(model, X) for name, model, X in models()}
    if sys.argv[1:] == ["--accept"]:
        FILE.write_text(json.dumps({"versions": versions(), "models": found}, indent=0, ensure_ascii=False) + "\n")
        return 0
    kept = json.loads(FILE.read_text())
    exact = kept["versions"] == versions()
    n_moved = 0
    for name in sorted(kept["models"].keys() | found.keys()):
        names = moved(kept["models"].get(name, {}), found.get(name, {}), exact)
        n_moved += bool(names)
        if names:
            state = "gone" if name not in found else "new" if name not in kept["models"] else ", ".join(names)
            print(f"{name}: {state}")
    machines = "" if exact else "; kernel machines compared loosely, the versions of NumPy, SciPy or BLAS differ"
    print(f"{len(found)} models, {n_moved} moved{machines}")
    return 1 if n_moved else 0


if __name__ == "__main__":
    sys.exit(main())
