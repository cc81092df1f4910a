"""Small fitted pipelines of scikit-learn with every transformer that files can hold."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, chi2, mutual_info_classif
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import planewise as pw


def with_gaps(X):
    return np.where(np.arange(X.size).reshape(X.shape) % 7 == 3, np.nan, X)


def words(table):
    """A table as pandas reads it: text is no category, gaps are NaN."""
    table = table.astype({"word": str}).astype({"word": object, "number": int})
    table.loc[::11, "word"] = np.nan
    return table


def _fitted(pipeline, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of new defaults, and of columns of equal values
        return pipeline.fit(X, y)


def _tree(**settings):
    return pw.SLMClassifier(random_state=0, max_depth=3, **settings)


def _of_numbers():
    """Transformers of numbers, each before one tree; by name, whether it takes gaps."""
    yield "StandardScaler", StandardScaler(), True
    yield "StandardScaler, no centre", StandardScaler(with_mean=False), False
    yield "StandardScaler, nothing", StandardScaler(with_mean=False, with_std=False), True
    yield "MinMaxScaler", MinMaxScaler((-1, 1), clip=True), True
    yield "MaxAbsScaler", MaxAbsScaler(), True
    yield "RobustScaler", RobustScaler(quantile_range=(10.0, 90.0)), True
    yield "RobustScaler, no centre", RobustScaler(with_centering=False), False
    yield "Normalizer", Normalizer("l1"), False
    yield "Binarizer", Binarizer(threshold=2.0), False
    yield "PowerTransformer", PowerTransformer(), True
    yield "PowerTransformer, not scaled", PowerTransformer(method="box-cox", standardize=False), False
    yield "QuantileTransformer", QuantileTransformer(n_quantiles=12, output_distribution="normal", random_state=0), True
    yield "PolynomialFeatures", PolynomialFeatures(degree=(2, 3), interaction_only=True, include_bias=False), False
    yield "PolynomialFeatures, squares", PolynomialFeatures(), False
    yield "SplineTransformer", SplineTransformer(n_knots=4), False
    yield "SplineTransformer, periodic", SplineTransformer(extrapolation="periodic", include_bias=False), False
    yield "VarianceThreshold", VarianceThreshold(0.5), True
    yield "SelectKBest", SelectKBest(chi2, k=2), False
    yield "SelectPercentile", SelectPercentile(percentile=50), False
    yield "PCA", PCA(3, whiten=True), False
    yield "PCA, share", PCA(0.95, svd_solver="full"), False
    yield "TruncatedSVD", TruncatedSVD(2, random_state=0), False
    yield "FunctionTransformer", FunctionTransformer(np.log1p, inverse_func=np.expm1, validate=True), False
    yield "FunctionTransformer, none", FunctionTransformer(), True
    yield "KBinsDiscretizer", KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"), False
    yield "KBinsDiscretizer, ordinal", KBinsDiscretizer(3, encode="ordinal", dtype=np.float32, strategy="kmeans"), False
    yield "SimpleImputer", SimpleImputer(strategy="median", add_indicator=True), True
    yield "MissingIndicator", make_union(MissingIndicator(error_on_new=False), SimpleImputer()), True
    yield "DiscriminantFeatureTest", pw.DiscriminantFeatureTest(n_features_to_select=2), False


def _columns(**encoder):
    numeric = ["sepal length", "petal length"]
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numeric),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False, **encoder), ["word"]),
            ("none", StandardScaler(), []),
            ("left", "drop", "number"),
        ],
        remainder="passthrough",
    )


def _of_tables(table, y):
    rare = {"min_frequency": 20, "handle_unknown": "infrequent_if_exist"}
    text = ["word"]
    yield "columns", make_pipeline(_columns(), _tree()), table
    grouped = OneHotEncoder(drop="first", sparse_output=False, **rare)
    yield (
        "columns, infrequent words",
        make_pipeline(ColumnTransformer([("w", grouped, text)], verbose_feature_names_out=False), _tree()),
        table,
    )
    codes = {"unknown_value": -1, "encoded_missing_value": -2, "dtype": np.int32}
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", **codes)
    yield (
        "columns, ordinal words",
        make_pipeline(
            ColumnTransformer(
                [("o", ordinal, text), ("t", TargetEncoder(random_state=0), ["word", "number"])],
                remainder=SimpleImputer(strategy="most_frequent"),
                transformer_weights={"t": 2.0},
            ),
            _tree(),
        ),
        table,
    )
    yield (
        "columns, several ways to choose",
        make_pipeline(
            ColumnTransformer(
                [
                    ("mask", MinMaxScaler(), [True, False, False, False, False, False]),
                    ("slice", SimpleImputer(), slice("sepal width", "petal ü")),
                    ("places", "passthrough", [-1]),
                    ("list", OrdinalEncoder(max_categories=3), ["word"]),
                ]
            ),
            _tree(),
        ),
        table,
    )
    pandas = make_pipeline(_columns(), SelectPercentile(mutual_info_classif, percentile=60), _tree())
    yield "columns, data frames between steps", pandas.set_output(transform="pandas"), table
    filled = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(dtype=np.float32))
    yield (
        "columns, filled words",
        make_pipeline(ColumnTransformer([("w", filled, text)], sparse_threshold=0), _tree()),
        table,
    )


def pipelines(iris, frame, numbers):
    """Name, fit, rows: as the catalogue has them."""
    (X, y), (table, _), (Xr, yr) = iris(), frame(), numbers()
    for name, step, takes_gaps in _of_numbers():
        rows = with_gaps(X) if takes_gaps else X
        yield f"pipeline, {name}", lambda s=step, r=rows: _fitted(make_pipeline(s, _tree()), r, y), rows
    table = words(table)
    for name, pipeline, rows in _of_tables(table, y):
        yield f"pipeline, {name}", lambda p=pipeline, r=rows: _fitted(p, r, np.array(["low", "mid", "high"])[y]), rows
    short = X.astype(np.float32)
    yield "pipeline, float32", lambda: make_pipeline(StandardScaler(), PCA(2), _tree()).fit(short, y), short
    inner = Pipeline([("scale", StandardScaler()), ("nothing", None), ("pass", "passthrough")])
    union = FeatureUnion([("inner", inner), ("raw", "passthrough"), ("left", "drop")], transformer_weights={"inner": 3})
    boosting = pw.SLMBoostClassifier(n_estimators=3, random_state=0)
    yield "pipeline, nested", lambda: Pipeline([("u", union), ("end", make_pipeline(PCA(2), boosting))]).fit(X, y), X
    filled = make_pipeline(SimpleImputer(), pw.SLMRegressor(random_state=0, max_depth=3))
    logs = TransformedTargetRegressor(filled, func=np.log1p, inverse_func=np.expm1)
    yield "pipeline, transformed target", lambda: logs.fit(Xr, np.abs(yr)), Xr
    scaled = TransformedTargetRegressor(pw.SLMRegressor(random_state=0, max_depth=3), transformer=StandardScaler())
    yield "pipeline, scaled target", lambda: make_pipeline(SimpleImputer(), scaled).fit(Xr, yr), Xr
    machine = pw.MCMClassifier(kernel="linear")
    yield "pipeline, machine", lambda: make_pipeline(StandardScaler(), machine).fit(X, y), X
