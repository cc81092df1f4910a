"""Save and load: a fitted estimator as a document and arrays, and back, by its declaration."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib import import_module
from os import PathLike, fspath
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from planewise._params import check_parameters
from planewise.io import _container
from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._declaration import Declaration, check_columns
from planewise.io._errors import ModelFileError, require
from planewise.io._values import CategoryError, NotPlainError, pack_value, unpack_value
from planewise.io._versions import FORMAT, SCHEMA, check_version, upgrade

# All estimators that files can hold, and where each is declared; nothing else is ever made of a file. Only what a file
# needs is brought in, since all families together take a second to start.
KNOWN = {
    **dict.fromkeys(
        [
            *("SLMClassifier", "SLMRegressor", "SLMForestClassifier", "SLMForestRegressor"),
            *("SLMBoostClassifier", "SLMBoostRanker", "SLMBoostRegressor", "DiscriminantFeatureTest"),
        ],
        "_tree_models",
    ),
    **dict.fromkeys(
        [
            *("MCMClassifier", "MCMRegressor", "MCMClassifierCV", "MCMRegressorCV"),
            *("LargeScaleMCMClassifier", "ConformalKernel"),
        ],
        "_machine_models",
    ),
    **dict.fromkeys(["RECIPClassifier", "RECIPRegressor"], "_recip_models"),
    **dict.fromkeys(["SLMViewsClassifier", "SLMViewsRegressor"], "_views_models"),
    "TableModel": "_table_models",
}


@cache
def declaration(name: str) -> Declaration:
    """What a file holds of the estimator of this name, one of `KNOWN`."""
    every = import_module(f"planewise.io.{KNOWN[name]}").MODELS
    return next(declared for declared in every if declared.cls.__name__ == name)


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator to a file that can run no code when it is loaded.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of planewise. Of one from ``planewise.dask``, the file holds the ordinary estimator.
    path : path
        Where to; ".planewise" is the usual ending. The file appears in one step: an interrupted save leaves what was
        there before.

    Raises
    ------
    ValueError
        If a parameter is a function or another object that a file cannot hold, or a category is too long a text; the
        error names the parameter or the column.

    Examples
    --------
    >>> import tempfile, planewise
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = planewise.SLMClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planewise.save(tree, Path(folder) / "iris.planewise")
    ...     again = planewise.load(Path(folder) / "iris.planewise")
    >>> bool((again.predict_proba(X) == tree.predict_proba(X)).all())
    True
    """
    arrays = ArrayWriter()
    packed = pack_model(model.to_local() if hasattr(model, "to_local") else model, arrays)
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "versions": _versions(),
        "model": packed,
        "arrays": arrays.described,
    }
    _container.write(path, _container.Parts(document, arrays.content()))


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator from a file of `save`.

    Whatever the file holds, no code in it runs and no memory beyond a multiple of its size is used; every number that
    the compiled core relies on is checked first.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        It predicts what the saved one did, to the bit.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or forged, or was written by a later version.
    """
    try:
        document, content = _container.read(path)
        check_version(document)
        require(set(document) == {"format", "schema", "versions", "model", "arrays"}, "has missing or unknown parts")
        arrays = ArrayReader(document["arrays"], content)
        with np.errstate(all="ignore"):  # a forged file may hold any numbers
            model = unpack_model(upgrade(document), arrays)
        arrays.require_all_taken()
    except ModelFileError as error:
        raise ModelFileError(f"The file {fspath(path)!r} {str(error).removesuffix('.')}.") from error.__cause__
    return model


def versions(path: str | PathLike[str]) -> dict[str, str]:
    """The versions of planewise and its libraries that wrote a model file."""
    found: dict[str, str] = _container.read(path).document["versions"]
    return found


def checksum(model: Any) -> str:
    """SHA-256 of all that the model's file would hold except versions and the record of its fit, which has a date.

    It is the same before saving and after loading.
    """
    arrays = ArrayWriter()
    packed = pack_model(model, arrays)
    packed["fitted"].pop("record_", None)
    digest = hashlib.sha256(json.dumps(packed, sort_keys=True).encode())
    digest.update(json.dumps(arrays.described, sort_keys=True).encode())
    digest.update(arrays.content())
    return digest.hexdigest()


NEEDED_BY_FIT = {"eval_metric": "None", "cv": "5"}  # parameters that predictions never need, and what to set instead


class CannotBeSavedError(ValueError):
    """Says what of an estimator no file can hold."""


def pack_model(model: Any, arrays: ArrayWriter) -> dict[str, Any]:
    """A fitted estimator as JSON."""
    name = type(model).__name__
    if name not in KNOWN or type(model) is not declaration(name).cls:
        known = ", ".join(sorted(KNOWN))
        raise TypeError(f"A {name} cannot be saved to a model file; these can: {known}.")
    declared = declaration(name)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(f"This {name} is not fitted yet; a model file holds fitted models: call fit first.") from None
    check_parameters(model)
    fitted = {}
    for attribute, kind in declared.kinds.items():
        if attribute in declared.required_kinds or attribute in vars(model):
            try:
                fitted[attribute] = kind.pack(getattr(model, attribute), arrays)
            except CannotBeSavedError:  # an estimator in this one
                raise
            except CategoryError as error:
                names = getattr(model, "feature_names_in_", None)
                column = error.column if names is None else repr(names[error.column])
                raise CannotBeSavedError(
                    f"{name} cannot be saved: column {column} has categories that no file can hold ({error}); give it "
                    "numbers or short texts as categories and fit again."
                ) from None
            except (NotPlainError, ValueError) as error:
                raise CannotBeSavedError(
                    f"{name} cannot be saved: {attribute} contains {error}, which cannot be stored in a file."
                ) from None
    return {"kind": name, "parameters": _pack_parameters(model, declared, arrays), "fitted": fitted}


def _pack_parameters(model: Any, declared: Declaration, arrays: ArrayWriter) -> dict[str, Any]:
    parameters = model.get_params(deep=False) | dict(declared.reset)
    packed = {}
    for parameter, value in parameters.items():
        try:
            packed[parameter] = pack_value(value, arrays)
        except (NotPlainError, ValueError) as error:
            raise CannotBeSavedError(
                f"{type(model).__name__} cannot be saved: the parameter {parameter!r} is {error}, and a model file "
                f"holds only plain values. {_instead(parameter)}"
            ) from None
    return packed


def _instead(parameter: str) -> str:
    if parameter in NEEDED_BY_FIT:
        return f"Predictions do not need it: model.set_params({parameter}={NEEDED_BY_FIT[parameter]})."
    return f"If predictions do not need it, put another value in its place first: model.set_params({parameter}=...)."


def unpack_model(packed: Any, arrays: ArrayReader) -> Any:
    """The estimator again, checked before anybody can use it."""
    require(
        isinstance(packed, dict) and set(packed) == {"kind", "parameters", "fitted"}, "has a model of an unknown form"
    )
    name = packed["kind"]
    require(isinstance(name, str) and name in KNOWN, "holds a model that this version does not know")
    declared = declaration(name)
    model = _constructed(declared, packed["parameters"], arrays)
    fitted = packed["fitted"]
    require(
        isinstance(fitted, dict)
        and set(declared.required_kinds) <= set(fitted) <= {*declared.kinds, *declared.obsolete},
        f"has a {name} with missing or unknown attributes",
    )
    for attribute, kind in declared.kinds.items():
        if attribute in fitted:
            setattr(model, attribute, kind.unpack(fitted[attribute], arrays, attribute))
    for attribute, kind in declared.obsolete.items():
        if attribute in fitted:
            kind.unpack(fitted[attribute], arrays, attribute)
    check_columns(model)
    declared.check(model)
    declared.derive(model)
    return model


def _constructed(declared: Declaration, packed: Any, arrays: ArrayReader) -> Any:
    """The unfitted estimator with the file's parameters; those it does not name have their defaults."""
    name = declared.cls.__name__
    require(isinstance(packed, dict), f"has a {name} without parameters")
    known = set(declared.cls._get_param_names())  # type: ignore[attr-defined]
    unknown = sorted(set(packed) - known)
    require(not unknown, f"has a {name} with parameters that this version does not know: {', '.join(unknown)[:200]}")
    values = {parameter: unpack_value(value, arrays) for parameter, value in packed.items()}
    for parameter, value in declared.reset.items():
        given = values.get(parameter, value)  # of any kind: an array equals nothing as a whole
        require(
            type(given) is type(value) and given == value, f"has a {name} with a {parameter}, which no file should hold"
        )
    model = declared.cls(**values)
    try:
        check_parameters(model)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise ModelFileError(f"has parameters that are not allowed: {str(error)[:500]}") from error
    return model


def _versions() -> dict[str, str]:
    import planewise

    return {
        "planewise": planewise.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
