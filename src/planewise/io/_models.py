"""Save and load: a fitted estimator as a document and arrays, and back, by its declaration."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from planewise._warn import warn_user
from planewise.io import _container
from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._declaration import Declaration
from planewise.io._errors import CannotBeSavedError, ModelFileError, require
from planewise.io._places import Place, named, read_bytes, write_bytes
from planewise.io._values import CategoryError, NotPlainError
from planewise.io._versions import FORMAT, SCHEMA, check_version, other_scikit_learn, upgrade

# All estimators that files can hold, and where each is declared; nothing else is ever made of a file. Only what a file
# needs is brought in, since all families together take a second to start.
OURS = {
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
TRANSFORMERS = {
    **dict.fromkeys(
        [
            *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer"),
            *("PowerTransformer", "QuantileTransformer", "FunctionTransformer", "PolynomialFeatures"),
            *("SplineTransformer", "VarianceThreshold", "SelectKBest", "SelectPercentile", "PCA", "TruncatedSVD"),
        ],
        "_transformers",
    ),
    **dict.fromkeys(
        [
            *("SimpleImputer", "MissingIndicator", "OneHotEncoder", "OrdinalEncoder", "TargetEncoder"),
            "KBinsDiscretizer",
        ],
        "_encoders",
    ),
}
COMPOSITIONS = dict.fromkeys(
    ["Pipeline", "FeatureUnion", "ColumnTransformer", "TransformedTargetRegressor"], "_pipelines"
)
KNOWN = OURS | TRANSFORMERS | COMPOSITIONS


@cache
def declaration(name: str) -> Declaration:
    """What a file holds of the estimator of this name, one of `KNOWN`."""
    every = import_module(f"planewise.io.{KNOWN[name]}").MODELS
    return next(declared for declared in every if declared.cls.__name__ == name)


def save(model: Any, target: Place) -> None:
    """Write a fitted estimator to a file that can run no code when it is loaded.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of planewise; or a :class:`sklearn.pipeline.Pipeline` or
        :class:`sklearn.compose.TransformedTargetRegressor` with one at its end, whose other steps are from the list in
        :doc:`/files`. Of an estimator from ``planewise.dask``, the file holds the ordinary one.
    target : path or file object
        Where to; ".planewise" is the usual ending. A path is written in one step: an interrupted save leaves what was
        there before. A file object must be open for writing bytes; it need not be seekable, and stays open.

    Raises
    ------
    TypeError
        If a file cannot hold an estimator of this class, or the file object is one of text.
    ValueError
        If a parameter is a function or another object that a file cannot hold, or a category is too long a text; the
        error names the step, and the parameter or the column.

    Examples
    --------
    >>> import io, planewise
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), planewise.SLMClassifier(random_state=0)).fit(X, y)
    >>> file = io.BytesIO()
    >>> planewise.save(model, file)
    >>> again = planewise.load(io.BytesIO(file.getvalue()))
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    arrays = ArrayWriter()
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "versions": _versions(),
        "model": pack_model(model, arrays),
        "arrays": arrays.described,
    }
    _require_model_at_end(model)
    parts = _container.Parts(document, arrays.content())
    try:
        _model_of(parts)
    except ModelFileError as error:
        raise CannotBeSavedError(
            f"This {type(model).__name__} cannot be saved, because its file could not be loaded: it {error}."
        ) from None
    write_bytes(target, _container.packed(parts))


def load(source: Place) -> Any:
    """Read a fitted estimator from a file of `save`.

    Whatever the file holds, no code in it runs and no memory beyond a multiple of its size is used; every number that
    the compiled core relies on is checked first.

    Parameters
    ----------
    source : path or file object
        The file. A file object must be open for reading bytes; it is read from its position to its end, and stays open.

    Returns
    -------
    model : estimator
        It predicts what the saved one did, to the bit.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or forged, or was written by a later version.

    Warns
    -----
    UserWarning
        If the file holds transformers of scikit-learn and was written with another version of it.
    """
    with _errors_of(source):
        parts = _parts_of(source)
        model = _model_of(parts)
    other = other_scikit_learn(parts.document)
    if type(model).__name__ in COMPOSITIONS and other is not None:
        warn_user(
            f"{named(source)} holds transformers that were fitted with scikit-learn {other}; this is "
            f"{sklearn.__version__}. They were read without a fault, but may work differently: compare predictions."
        )
    return model


def _parts_of(source: Place) -> _container.Parts:
    parts = _container.unpacked(read_bytes(source))
    check_version(parts.document)
    return parts


@contextmanager
def _errors_of(source: Place) -> Iterator[None]:
    """Errors in a file become sentences that name it."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{named(source)} {str(error).removesuffix('.')}.") from error.__cause__


def _model_of(parts: _container.Parts) -> Any:
    document, content = parts
    require(set(document) == {"format", "schema", "versions", "model", "arrays"}, "has missing or unknown parts")
    arrays = ArrayReader(document["arrays"], content)
    with np.errstate(all="ignore"):  # a forged file may hold any numbers
        model = unpack_model(upgrade(document), arrays)
    arrays.require_all_taken()
    require(model_at_end(model) is not None, "holds transformers without a model of planewise at their end")
    return model


def model_at_end(model: Any) -> Any:
    """The estimator of planewise at the end of a pipeline, or the model itself; None if it is of another library."""
    name = type(model).__name__  # known to be what it says; its module need not be loaded
    if name == "Pipeline":
        return model_at_end(model.steps[-1][1])
    if name == "TransformedTargetRegressor":
        return model_at_end(model.regressor_)
    return model if name in OURS else None


def _require_model_at_end(model: Any) -> None:
    if model_at_end(_local(model)) is None:
        raise TypeError(
            f"A {type(model).__name__} without an estimator of planewise at its end cannot be saved to a model file."
        )


def versions(source: Place) -> dict[str, str]:
    """The versions of planewise and its libraries that wrote a model file."""
    with _errors_of(source):
        found: dict[str, str] = _parts_of(source).document["versions"]
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


NEEDED_BY_FIT = {
    "callbacks": "None",
    "cv": "5",
    "scoring": "None",
}  # parameters that predictions never need, and what to set instead


def pack_model(model: Any, arrays: ArrayWriter, fitted: bool = True) -> dict[str, Any]:
    """An estimator as JSON; with all it learned, or as it was before it was fitted."""
    model = _local(model)
    declared = _declared(model)
    if fitted:
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise ValueError(
                f"This {declared.name} is not fitted yet; a model file holds fitted models: call fit first."
            ) from None
    declared.check_parameters(model)
    learned = {"fitted": _pack_fitted(model, declared, arrays)} if fitted else {}
    packed = {"kind": declared.name, "parameters": _pack_parameters(model, declared, arrays, fitted), **learned}
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    return packed if output is None else packed | {"output": output}


def _local(model: Any) -> Any:
    return model.to_local() if hasattr(model, "to_local") else model


def _declared(model: Any) -> Declaration:
    """How the estimator is kept; an error that says what can be."""
    cls = type(model)
    if cls.__name__ in KNOWN and cls is declaration(cls.__name__).cls:
        return declaration(cls.__name__)
    base = next((each.__name__ for each in cls.__mro__[1:] if _is_known(each)), None)
    why = "" if base is None else f", because it is a class of its own, derived from {base}"
    ours, theirs = ", ".join(sorted(OURS)), ", ".join(sorted(TRANSFORMERS | COMPOSITIONS))
    raise TypeError(
        f"A {cls.__name__} cannot be saved to a model file{why}; these can: {ours}; and, in a pipeline with one of "
        f"them at its end, these of scikit-learn: {theirs}."
    )


def _is_known(cls: type) -> bool:
    return cls.__name__ in KNOWN and cls is declaration(cls.__name__).cls


def _pack_fitted(model: Any, declared: Declaration, arrays: ArrayWriter) -> dict[str, Any]:
    name, fitted = declared.name, {}
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
    return fitted


def _pack_parameters(model: Any, declared: Declaration, arrays: ArrayWriter, fitted: bool) -> dict[str, Any]:
    packed = {}
    for parameter, value in (declared.parameters_of(model) | dict(declared.reset)).items():
        try:
            packed[parameter] = declared.parameter_kind(parameter, fitted).pack(value, arrays)
        except CannotBeSavedError:  # an estimator in this one
            raise
        except (NotPlainError, ValueError) as error:
            raise CannotBeSavedError(
                f"{declared.name} cannot be saved: the parameter {parameter!r} is {error}, and a model file "
                f"holds only plain values. {_instead(parameter)}"
            ) from None
    return packed


def _instead(parameter: str) -> str:
    if parameter in NEEDED_BY_FIT:
        return f"Predictions do not need it: model.set_params({parameter}={NEEDED_BY_FIT[parameter]})."
    return f"If predictions do not need it, put another value in its place first: model.set_params({parameter}=...)."


def unpack_model(packed: Any, arrays: ArrayReader, fitted: bool = True) -> Any:
    """The estimator again, checked before anybody can use it."""
    parts = {"kind", "parameters"} | ({"fitted"} if fitted else set())
    require(isinstance(packed, dict) and parts <= set(packed) <= {*parts, "output"}, "has a model of an unknown form")
    name = packed["kind"]
    require(isinstance(name, str) and name in KNOWN, "holds a model that this version does not know")
    declared = declaration(name)
    with arrays.one_deeper():
        model = _constructed(declared, packed["parameters"], arrays, fitted)
        if fitted:
            _set_fitted(model, declared, packed["fitted"], arrays)
    if "output" in packed:
        require(packed["output"] in OUTPUTS and hasattr(model, "set_output"), f"has a {name} with an unknown output")
        model._sklearn_output_config = {"transform": packed["output"]}
    return model


OUTPUTS = ("default", "pandas", "polars")


def _set_fitted(model: Any, declared: Declaration, fitted: Any, arrays: ArrayReader) -> None:
    require(
        isinstance(fitted, dict)
        and set(declared.required_kinds) <= set(fitted) <= {*declared.kinds, *declared.obsolete},
        f"has a {declared.name} with missing or unknown attributes",
    )
    for attribute, kind in declared.kinds.items():
        if attribute in fitted:
            setattr(model, attribute, kind.unpack(fitted[attribute], arrays, attribute))
    for attribute, kind in declared.obsolete.items():
        if attribute in fitted:
            kind.unpack(fitted[attribute], arrays, attribute)
    declared.check_all(model)
    declared.derive(model)


def _constructed(declared: Declaration, packed: Any, arrays: ArrayReader, fitted: bool) -> Any:
    """The unfitted estimator with the file's parameters; those it does not name have their defaults."""
    name = declared.name
    require(isinstance(packed, dict), f"has a {name} without parameters")
    known = set(declared.cls._get_param_names())  # type: ignore[attr-defined]
    unknown = sorted(set(packed) - known)
    require(not unknown, f"has a {name} with parameters that this version does not know: {', '.join(unknown)[:200]}")
    values = {
        parameter: declared.parameter_kind(parameter, fitted).unpack(value, arrays, parameter)
        for parameter, value in packed.items()
    }
    for parameter, value in declared.reset.items():
        given = values.get(parameter, value)  # of any kind: an array equals nothing as a whole
        require(
            type(given) is type(value) and given == value, f"has a {name} with a {parameter}, which no file should hold"
        )
    try:
        model = declared.cls(**values)
        declared.check_parameters(model)
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
