"""Small fitted models of every estimator, task and kind of data that files must hold."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import polars as pl
from sklearn.datasets import load_iris, make_regression

import planewise as pw
from planewise.table import TableModel

SEARCH = {"cv": 3, "n_repeats": 1, "gammas": [0.2], "Cs": (100.0,), "mus": [10.0, 1.0]}
QUICK = {"n_estimators": 6, "random_state": 0}


@functools.cache
def iris():
    return load_iris(return_X_y=True)


@functools.cache
def numbers():
    X, y = make_regression(120, 5, noise=5.0, random_state=0)
    X[::7, 1] = np.nan
    return X, y


@functools.cache
def frame():
    """Names, gaps, and categories that are words and numbers."""
    X, y = iris()
    table = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal ü"])
    table.loc[::9, "petal length"] = np.nan
    rng = np.random.default_rng(0)
    table["word"] = pd.Categorical(np.where(rng.random(150) < 0.8, np.array(["a", "b", "ç"])[y], "d"))
    table["number"] = pd.Categorical(rng.integers(0, 9, 150) + 4 * y)
    return table, y


def labels(kind):
    _, y = iris()
    return {
        "int8": y.astype(np.int8),
        "negative": y * 7 - 5,
        "float": y * 2.0,
        "str": np.array(["low", "mid", "high"])[y],
        "object": np.array(["low", "mid", "high"], dtype=object)[y],
        "bool": y == 1,
        "two": np.where(y == 1, "yes", "no"),
        "one": np.zeros(len(y)),
    }[kind]


def _trees():
    X, y = iris()
    table, _ = frame()
    Xr, yr = numbers()
    for kind in ("int8", "negative", "float", "str", "object", "bool", "one"):
        yield f"tree, {kind} labels", lambda k=kind: pw.SLMClassifier(random_state=0).fit(X, labels(k)), X
    yield "tree, frame", lambda: pw.SLMClassifier(random_state=0, class_weight={0: 1, 1: 2, 2: 1}).fit(table, y), table
    yield "tree, numbers", lambda: pw.SLMRegressor(random_state=0).fit(Xr, yr), Xr
    yield "tree, frame of numbers", lambda: pw.SLMRegressor(random_state=0).fit(table, y * 1.5), table
    times = np.column_stack([X, 1.7e9 + 60 * y + np.arange(len(y)) % 60])
    yield "tree, times in seconds", lambda: pw.SLMClassifier(random_state=0).fit(times, y), times
    masked = np.column_stack([X, y % 2])
    yield (
        "tree, categories in an array",
        lambda: pw.SLMClassifier(random_state=0, categorical_features=np.arange(5) == 4).fit(masked, y),
        masked,
    )


def _forests():
    X, y = iris()
    table, _ = frame()
    Xr, yr = numbers()
    yield "forest", lambda: pw.SLMForestClassifier(**QUICK).fit(X, y), X
    yield (
        "forest, out of bag, votes",
        lambda: pw.SLMForestClassifier(
            n_estimators=40, bootstrap=True, oob_score=True, voting="hard", random_state=0
        ).fit(X, labels("two")),
        X,
    )
    yield "forest, frame", lambda: pw.SLMForestClassifier(**QUICK, max_planes=3).fit(table, labels("str")), table
    yield (
        "forest, numbers",
        lambda: pw.SLMForestRegressor(n_estimators=40, bootstrap=True, oob_score=True, random_state=0).fit(Xr, yr),
        Xr,
    )
    yield (
        "forest, constrained",
        lambda: pw.SLMForestRegressor(**QUICK, monotonic_cst=[1, 0, 0, 0, -1], interaction_cst="pairwise").fit(Xr, yr),
        Xr,
    )
    yield (
        "forest, frame of numbers",
        lambda: pw.SLMForestRegressor(**QUICK, max_planes=2).fit(table, y * 1.5),
        table,
    )


def _boosting():
    X, y = iris()
    table, _ = frame()
    Xr, yr = numbers()
    yield "boosting", lambda: pw.SLMBoostClassifier(**QUICK).fit(table, labels("object")), table
    yield "boosting, two classes", lambda: pw.SLMBoostClassifier(**QUICK, warm_start=True).fit(X, labels("two")), X
    yield "boosting, one class", lambda: pw.SLMBoostClassifier(**QUICK).fit(X, labels("one")), X
    yield (
        "boosting, stopped early",
        lambda: pw.SLMBoostRegressor(n_estimators=30, early_stopping=True, n_iter_no_change=3, random_state=0).fit(
            Xr, yr
        ),
        Xr,
    )
    yield (
        "boosting, monotone",
        lambda: pw.SLMBoostRegressor(**QUICK, monotonic_cst=[1, 0, 0, 0, -1], subspace_size=[2, 3]).fit(Xr, yr),
        Xr,
    )
    yield (
        "boosting, monotone by name",
        lambda: pw.SLMBoostRegressor(**QUICK, monotonic_cst={"sepal width": 1}).fit(table, y * 2.0),
        table,
    )
    yield (
        "boosting, groups of columns",
        lambda: pw.SLMBoostRegressor(**QUICK, interaction_cst=[{"sepal width"}, ("sepal width", 0)]).fit(
            table, y * 2.0
        ),
        table,
    )
    for kind in ("two", "object"):
        yield (
            f"boosting, target statistics, {kind} labels",
            lambda k=kind: pw.SLMBoostClassifier(**QUICK, target_statistics=3).fit(table, labels(k)),
            table,
        )
    yield (
        "boosting, target statistics, numbers",
        lambda: pw.SLMBoostRegressor(**QUICK, target_statistics=3, warm_start=True).fit(table, y * 1.5),
        table,
    )
    yield "boosting, offset", lambda: pw.SLMBoostRegressor(**QUICK).fit(Xr, yr, offset=yr / 2), Xr
    query = np.arange(len(Xr)) // 10
    yield "boosting, ranking", lambda: pw.SLMBoostRanker(**QUICK, ndcg_at=5).fit(Xr, yr > np.median(yr), qid=query), Xr
    yield (
        "boosting, ranking, target statistics",
        lambda: pw.SLMBoostRanker(**QUICK, target_statistics=3).fit(table, y, group=[50, 100]),
        table,
    )
    yield "boosting, tweedie", lambda: pw.SLMBoostRegressor(**QUICK, loss="tweedie", power=1.2).fit(Xr, np.abs(yr)), Xr
    for loss in ("absolute_error", "huber", "quantile", "poisson", "gamma"):
        yield f"boosting, {loss}", lambda name=loss: pw.SLMBoostRegressor(**QUICK, loss=name).fit(Xr, np.abs(yr)), Xr


def _feature_tests():
    X, y = iris()
    table, _ = frame()
    yield "feature test", lambda: pw.DiscriminantFeatureTest(n_features_to_select=2).fit(X, y), X
    yield (
        "feature test, names",
        lambda: pw.DiscriminantFeatureTest().fit(table[table.columns[:4]], y),
        table.iloc[:, :4],
    )


def _machines():
    X, y = iris()
    Xr, yr = np.nan_to_num(numbers()[0]), numbers()[1]
    table = frame()[0].iloc[:, [0, 1, 3]]
    yield "machine", lambda: pw.MCMClassifier().fit(X, labels("str")), X
    yield "machine, frame", lambda: pw.MCMClassifier(probability=True, random_state=0).fit(table, labels("two")), table
    yield "machine, linear", lambda: pw.MCMClassifier(kernel="linear", multi_class="ovo").fit(X, y), X
    yield "machine, poly", lambda: pw.MCMClassifier(kernel="poly", C=10.0, scaling="standard").fit(X, y), X
    K = X @ X.T
    yield "machine, matrix", lambda: pw.MCMClassifier(kernel="precomputed").fit(K, y), K
    yield "machine, conformal", lambda: pw.MCMClassifier(conformal="shrunk", shrinkage=0.5).fit(X, y), X
    summed = {"slack": "sum", "conformal": "printed"}
    yield "machine, printed", lambda: pw.MCMClassifier(C=5.0, **summed).fit(X, y), X
    yield "machine for numbers", lambda: pw.MCMRegressor().fit(Xr, yr), Xr
    yield "machine for numbers, linear", lambda: pw.MCMRegressor(kernel="linear").fit(Xr, yr), Xr
    yield "machine for numbers, frame", lambda: pw.MCMRegressor(kernel="poly").fit(table, y * 1.5), table
    Kr = Xr @ Xr.T
    yield "machine for numbers, matrix", lambda: pw.MCMRegressor(kernel="precomputed").fit(Kr, yr), Kr
    search = SEARCH | {"random_state": 0}
    of_numbers = search | {"mus": [0.1, 0.01], "max_support": 1.0}
    yield "search for numbers", lambda: pw.MCMRegressorCV(**of_numbers).fit(Xr, yr), Xr
    yield "search for numbers, linear", lambda: pw.MCMRegressorCV(kernel="linear", cv=2).fit(Xr, yr), Xr
    yield "search for numbers, frame", lambda: pw.MCMRegressorCV(**of_numbers).fit(table, y * 1.5), table
    yield "search for numbers alone", lambda: pw.MCMRegressorCV(**of_numbers, refit=False).fit(Xr, yr), Xr
    yield "search", lambda: pw.MCMClassifierCV(**search).fit(X, labels("two")), X
    yield "search, conformal", lambda: pw.MCMClassifierCV(**search, conformal="signed").fit(table, labels("two")), table
    two_classes, two_labels = X[y < 2], y[y < 2]
    first = search | {"mus": [1.0], "selection": "first", "gammas_conformal": (2.0, 3.0)}
    yield "search, printed", lambda: pw.MCMClassifierCV(**first | summed).fit(two_classes, two_labels), two_classes
    yield "search, numbers", lambda: pw.MCMClassifierCV(**search).fit(two_classes, two_labels), two_classes
    yield "search, several classes", lambda: pw.MCMClassifierCV(**search).fit(X, y), X
    gaps, (mixed, _) = np.where(np.arange(X.size).reshape(X.shape) % 7 == 3, np.nan, X), frame()
    yield "machine, gaps", lambda: pw.MCMClassifier(probability=True, random_state=0).fit(gaps, y), gaps
    yield "machine, categories", lambda: pw.MCMClassifier(conformal="signed").fit(mixed, labels("str")), mixed
    yield "machine, linear, categories", lambda: pw.MCMClassifier(kernel="linear").fit(mixed, y), mixed
    yield "machine for numbers, gaps", lambda: pw.MCMRegressor().fit(gaps, y * 1.5), gaps
    yield "machine for numbers, categories", lambda: pw.MCMRegressor(scaling="robust").fit(mixed, y * 1.5), mixed
    yield "search for numbers, gaps", lambda: pw.MCMRegressorCV(**of_numbers).fit(gaps, y * 1.5), gaps
    yield "search for numbers, categories", lambda: pw.MCMRegressorCV(**of_numbers).fit(mixed, y * 1.5), mixed
    yield "search, gaps", lambda: pw.MCMClassifierCV(**search).fit(gaps, y), gaps
    yield "search, categories", lambda: pw.MCMClassifierCV(**search).fit(mixed, y), mixed
    yield "search alone", lambda: pw.MCMClassifierCV(**search, refit=False).fit(X, labels("two")), X


def _large_machines():
    X, y = iris()
    table = frame()[0].iloc[:, [0, 1, 3]]
    few = {"n_components": 12, "max_iter": 5, "random_state": 0}
    yield "large machine", lambda: pw.LargeScaleMCMClassifier(**few).fit(X, y), X
    yield "large machine, conformal", lambda: pw.LargeScaleMCMClassifier(**few, conformal="shrunk").fit(table, y), table
    after = {"conformal": "printed", "conformal_start": "after_fit", "equal_cores": True, "slack": "sum"}
    yield "large machine, printed", lambda: pw.LargeScaleMCMClassifier(**few | after).fit(X, y), X
    yield "large machine, poly", lambda: pw.LargeScaleMCMClassifier(**few, kernel="poly").fit(X, labels("two")), X
    yield "large machine, one class", lambda: pw.LargeScaleMCMClassifier(**few).fit(X, labels("one")), X
    mixed = frame()[0]
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 7 == 3, np.nan, X)
    yield "large machine, gaps", lambda: pw.LargeScaleMCMClassifier(**few, scaling="arcsinh").fit(gaps, y), gaps
    large = X + 1e9  # float32 cannot resolve these columns
    yield "large machine, origins", lambda: pw.LargeScaleMCMClassifier(**few).fit(large, y), large
    yield "large machine, categories", lambda: pw.LargeScaleMCMClassifier(**few).fit(mixed, labels("str")), mixed
    yield "conformal kernel, gaps", lambda: pw.ConformalKernel().fit(gaps[::3], y[::3]), gaps
    yield "conformal kernel, categories", lambda: pw.ConformalKernel().fit(mixed[::3], y[::3]), mixed
    yield "conformal kernel", lambda: pw.ConformalKernel().fit(X[::3], y[::3]), X
    yield (
        "conformal kernel, frame",
        lambda: pw.ConformalKernel().fit(table[::3], labels("str")[::3]),
        table,
    )


def _views():
    X, y = iris()
    table, _ = frame()
    ordered = pd.Categorical(np.array(["low", "mid", "high"])[y], categories=["low", "mid", "high"], ordered=True)
    noisy = np.where(np.random.default_rng(1).random(150) < 0.2, (y + 1) % 3, y)
    graded = table.assign(grade=ordered)
    yield "views", lambda: pw.RECIPClassifier(random_state=0).fit(graded, labels("str")[noisy.argsort()]), graded
    published = {"estimate": "distances", "selection": "recip", "random_state": 0}
    yield "views, published", lambda: pw.RECIPClassifier(**published).fit(X, y), X
    used = published | {"keep": "used", "lam": 2.0, "unit_columns": False}
    yield "views, any row", lambda: pw.RECIPClassifier(**used).fit(X, y), X
    yield "views, votes", lambda: pw.RECIPClassifier(decide="vote", projections=[(0, 1), (2,)]).fit(X, labels("two")), X


def _sums_of_views():
    X, y = iris()
    table, _ = frame()
    Xr, yr = numbers()
    few = {"n_estimators": 6, "max_views": 4, "cv": 2, "random_state": 0}
    yield "sum of views", lambda: pw.AdditiveClassifier(**few).fit(table, labels("str")), table
    yield "sum of views, two classes", lambda: pw.AdditiveClassifier(**few, keep_rows=40).fit(X, labels("two")), X
    yield "sum of views, number labels", lambda: pw.AdditiveClassifier(**few, max_dim=1).fit(X, y), X
    yield "sum of views, one class", lambda: pw.AdditiveClassifier(**few).fit(X, labels("one")), X
    own = {"projections": [("word", "number"), ("petal length", "word"), ("sepal width",)], "keep_rows": 0}
    yield (
        "sum of views, own views",
        lambda: pw.AdditiveClassifier(**few | own, monotonic_cst={"sepal width": 1}).fit(table, labels("bool")),
        table,
    )
    yield "sum of views for numbers", lambda: pw.AdditiveRegressor(**few).fit(Xr, yr), Xr
    yield "sum of views for numbers, frame", lambda: pw.AdditiveRegressor(**few).fit(table, y * 1.5), table
    for loss in ("poisson", "quantile", "tweedie"):
        yield (
            f"sum of views for numbers, {loss}",
            lambda name=loss: pw.AdditiveRegressor(**few, loss=name).fit(Xr, np.abs(yr)),
            Xr,
        )


def _table_models():
    table = pl.from_pandas(frame()[0].astype({"word": str, "number": int}))
    table = table.with_columns(pl.Series("kind", labels("str")), pl.Series("key", np.arange(150)))
    settings = {"n_estimators": 5}
    of_views = {"n_estimators": 5, "cv": 2, "max_views": 3}
    yield "table, boosting", lambda: TableModel("boosting", settings=settings, random_state=0).fit(table, "kind"), table
    yield "table, machine", lambda: TableModel("kernel", random_state=0, settings=SEARCH).fit(table, "kind"), table
    yield "table, numbers", lambda: TableModel("tree", random_state=0).fit(table, "petal ü"), table
    yield (
        "table, numbers, record",
        lambda: _with_record(TableModel("tree", random_state=0).fit(table[::2], "petal ü"), table[1::2]),
        table,
    )
    dated = table.with_columns(day=pl.date(2024, 1, 1) + pl.duration(days=pl.col("key") // 10))
    yield "table, dates", lambda: TableModel("tree", random_state=0).fit(dated.drop("key"), "kind"), dated
    quick = {"forest": settings, "boosting": settings, "additive": of_views}
    for family in ("tree", "forest", "additive", "recip"):
        yield (
            f"table, {family}, classes",
            lambda f=family: TableModel(f, settings=quick.get(f), random_state=0).fit(table, "kind"),
            table,
        )
    for family in ("forest", "boosting", "kernel", "additive"):
        yield (
            f"table, {family}, numbers",
            lambda f=family: TableModel(f, settings=quick.get(f), random_state=0).fit(table, "sepal width"),
            table,
        )


def _with_record(model, table):
    """The model as planewise fit would keep it: with errors on held-out rows, and what is known about its fit."""
    model.learn_intervals(table)
    measured = {"value": 0.5, "low": 0.4, "high": 0.6}
    model.record_ = {
        "date": "2026-01-02T03:04:05Z",
        "planewise": "0.1.0",
        "files": ["iris.csv"],
        "n_files": 1,
        "rows": {"read": 300, "with_target": 300, "fitted": 150, "held_out": 150},
        "split": {"kind": "group", "column": "key", "share": 0.5},
        "seed": 0,
        "quality": {"model": {"r2": measured, "rmse": measured}, "mean": {"rmse": measured}},
        "linear_is_as_good": False,
        "reading": {
            "missing": ["none"],
            "not_missing": [],
            "date_formats": {"day": "%d.%m.%Y"},
            "decimals": {"sepal width": ","},
            "categories": ["word"],
        },
    }
    return model


def _catalogue():
    trees = (_trees, _forests, _boosting, _feature_tests)
    for part in (*trees, _machines, _large_machines, _views, _sums_of_views, _table_models):
        yield from part()


CATALOGUE = {name: (fit, X) for name, fit, X in _catalogue()}


@functools.cache
def fitted(name):
    """The fitted model of that name, and rows to ask it about."""
    fit, X = CATALOGUE[name]
    return fit(), X


def answers(model, X):
    """Everything the model can say about the rows."""
    asked = ("predict", "predict_proba", "decision_function", "apply", "transform", "predict_contributions", "factor")
    asked += ("view_score", "predict_interval")
    found = {ask: getattr(model, ask)(X) for ask in asked if hasattr(model, ask)}
    if hasattr(model, "feature_importances_"):
        found["feature_importances_"] = model.feature_importances_
    return found
