"""Pipelines of scikit-learn: what is loaded does what was saved, and what cannot be saved is named."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from catalogue import fitted, iris
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st
from rewrite import parts_of, write
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import planewise as pw
from planewise.io import ModelFileError, model_at_end
from planewise.io._models import COMPOSITIONS, TRANSFORMERS
from planewise.io._transformers import FUNCTIONS, SCORES


def again(model):
    file = io.BytesIO()
    pw.save(model, file)
    file.seek(0)
    return pw.load(file)


def tree():
    return pw.SLMClassifier(random_state=0, max_depth=2)


# ------------------------------------------------------------------------------------------- random pipelines
NUMERIC = st.sampled_from(
    [
        *("passthrough", StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler(), PowerTransformer()),
        *(QuantileTransformer(n_quantiles=8), FunctionTransformer(np.arcsinh), PolynomialFeatures(2)),
        *(KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), VarianceThreshold(), PCA(2), TruncatedSVD(1)),
        *(SelectKBest(k=1), SelectPercentile(percentile=60), KBinsDiscretizer(4, encode="ordinal", strategy="uniform")),
        make_union(StandardScaler(), PCA(1)),
        FeatureUnion([("raw", "passthrough"), ("left", "drop"), ("s", MinMaxScaler())], transformer_weights={"raw": 2}),
    ]
)
WORDS = st.sampled_from(
    [
        *("drop", OneHotEncoder(handle_unknown="ignore", sparse_output=False), TargetEncoder(cv=2)),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=2, sparse_output=False, drop="first"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop="if_binary", min_frequency=3, dtype="float32"),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-3, min_frequency=4, encoded_missing_value=-1),
        make_pipeline(
            SimpleImputer(strategy="constant", fill_value="?"),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        ),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder(categories=[["u", "w", "v", "z"]] * 2)),
    ]
)
END = st.sampled_from(
    [tree(), pw.SLMBoostClassifier(n_estimators=2, random_state=0), pw.SLMForestClassifier(n_estimators=2)]
)


def a_frame(rng, n_rows):
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "ç"])
    frame["w"], frame["s"] = rng.choice(["u", "v", "w"], n_rows), rng.choice(["u", "w"], n_rows)
    frame = frame.astype({"w": object, "s": object})
    frame.iloc[rng.integers(0, n_rows, 3), 1] = np.nan
    frame.iloc[rng.integers(0, n_rows, 3), 3] = np.nan
    return frame


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])  # to shrink pipelines takes minutes
@given(
    first=NUMERIC,
    second=NUMERIC,
    encoder=WORDS,
    end=END,
    indicator=st.booleans(),
    output=st.sampled_from(["default", "pandas", "polars"]),
    remainder=st.sampled_from(["drop", "passthrough", SimpleImputer()]),
    kind=st.sampled_from([np.float64, np.float32]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_random_pipeline_gives_the_same_bits_when_loaded(
    first, second, encoder, end, indicator, output, remainder, kind, seed
):
    rng = np.random.default_rng(seed)
    X, y = a_frame(rng, 40), rng.integers(0, 2, 40)
    X = X.astype(dict.fromkeys(["a", "b"], kind))
    filled = SimpleImputer(strategy="median", add_indicator=indicator)
    numbers = Pipeline([("fill", filled), ("first", first), ("second", second)])
    columns = ColumnTransformer([("numbers", numbers, ["a", "b"]), ("words", encoder, ["w", "s"])], remainder=remainder)
    model = clone(Pipeline([("columns", columns), ("end", end)])).set_output(transform=output)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except (
            ValueError,
            pl.exceptions.DuplicateError,
        ):  # no columns are left, or polars refuses names that occur twice
            reject()
        loaded, rows = again(model), a_frame(rng, 15)
        made, made_again = model[:-1].transform(rows), loaded[:-1].transform(rows)
        assert type(made) is type(made_again)
        assert np.asarray(made).tobytes() == np.asarray(made_again).tobytes()
        assert model.predict_proba(rows).tobytes() == loaded.predict_proba(rows).tobytes()
        assert model.predict(rows).tolist() == loaded.predict(rows).tolist()
        assert hasattr(model[:-1], "get_feature_names_out") == hasattr(loaded[:-1], "get_feature_names_out")
    assert loaded.n_features_in_ == model.n_features_in_ and loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.feature_names_in_.tolist() == X.columns.tolist()
    first_file, second_file = io.BytesIO(), io.BytesIO()
    pw.save(model, first_file)
    pw.save(loaded, second_file)
    assert first_file.getvalue() == second_file.getvalue()


def a_table():
    town = ["Bonn", "warn", np.nan, "Bonn", "deprecated", "warn"] * 10
    return pd.DataFrame({"age": np.arange(60.0), "town": pd.Series(town, dtype=object)}), np.arange(60) > 30


@pytest.mark.parametrize(
    ("columns", "step"),
    [
        (
            ["town"],
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                SimpleImputer(missing_values="deprecated", strategy="most_frequent"),
                OrdinalEncoder(),
            ),
        ),
        (["town"], make_pipeline(SimpleImputer(strategy="constant", fill_value="warn"), OrdinalEncoder())),
        (["town"], OneHotEncoder(handle_unknown="warn", sparse_output=False)),
        (("age", "town"), OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
    ],
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_words_and_columns_that_scikit_learn_also_uses_otherwise(columns, step):
    X, y = a_table()
    model = make_pipeline(ColumnTransformer([("part", step, columns)]), tree()).fit(X, y)
    loaded = again(model)
    new = X.assign(town=["Ulm", *X["town"][1:]])
    if isinstance(step, OneHotEncoder):
        np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert str(loaded[0].transformers[0][1].get_params()) == str(model[0].transformers[0][1].get_params())


def test_an_ordinal_encoder_of_short_floats_with_missing_values():
    X = np.tile(np.array([[1.0], [np.nan], [2.0]], np.float32), (20, 1))
    model = make_pipeline(OrdinalEncoder(encoded_missing_value=-1), tree()).fit(X, np.isnan(X[:, 0]))
    np.testing.assert_array_equal(again(model).predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_a_target_of_one_column():
    X = np.random.default_rng(0).normal(size=(60, 2))
    inner = pw.SLMRegressor(random_state=0)
    model = TransformedTargetRegressor(inner, transformer=StandardScaler()).fit(X, X[:, :1])
    np.testing.assert_array_equal(again(model).predict(X), model.predict(X))


def test_a_pattern_of_names_is_kept():
    X, y = a_table()
    part = ColumnTransformer(
        [("p", "passthrough", ["age"])], verbose_feature_names_out="{transformer_name}: {feature_name}"
    )
    assert again(make_pipeline(part, tree()).fit(X, y))[0].get_feature_names_out().tolist() == ["p: age"]


def test_names_of_columns_and_the_kind_of_output_are_kept():
    model, X = fitted("pipeline, columns, data frames between steps")
    loaded = again(model)
    assert loaded[:-1].get_feature_names_out().tolist() == model[:-1].get_feature_names_out().tolist()
    assert isinstance(loaded[:-1].transform(X), pd.DataFrame)
    assert loaded[-1].feature_names_in_.tolist() == model[-1].feature_names_in_.tolist()


def test_a_loaded_pipeline_takes_another_kind_of_data_frame():
    model, X = fitted("pipeline, columns")
    frame = pl.from_pandas(X)
    assert again(model).predict(frame).tolist() == model.predict(frame).tolist()


def test_a_loaded_pipeline_can_be_fitted_again():
    model, X = fitted("pipeline, columns")
    y = model.predict(X)
    assert (clone(again(model)).fit(X, y).predict_proba(X) == clone(model).fit(X, y).predict_proba(X)).all()


def test_columns_that_a_function_chose_are_kept_as_a_list():
    X, y = fitted("pipeline, columns")[1], iris()[1]
    choose = make_column_selector(dtype_include="number")
    columns = ColumnTransformer([("numbers", SimpleImputer(), choose), ("rest", "drop", lambda table: ["word"])])
    loaded = again(make_pipeline(columns, tree()).fit(X, y))
    names = [*X.columns[:4], "number"]
    assert [columns for _, _, columns in loaded[0].transformers] == [names, ["word"]]


def test_a_pipeline_is_shown_in_notebooks_as_before():
    model = fitted("pipeline, columns")[0]
    loaded = again(model)
    assert loaded._repr_html_().count("<label") == model._repr_html_().count("<label") > 5
    assert repr(loaded) == repr(model)


def test_the_model_at_the_end_is_found():
    assert isinstance(model_at_end(fitted("pipeline, nested")[0]), pw.SLMBoostClassifier)
    assert isinstance(model_at_end(fitted("pipeline, transformed target")[0]), pw.SLMRegressor)
    assert model_at_end(StandardScaler()) is None


# ------------------------------------------------------------------------------------------------- what is refused
class Mine(StandardScaler):
    pass


def shift(x):
    return x + 1


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        (
            Mine(),
            TypeError,
            "In 'mine': A Mine cannot be saved to a model file, because it is a class of its own, derived",
        ),
        (KMeans(2), TypeError, "In 'kmeans': A KMeans cannot be saved to a model file; these can: .*OneHotEncoder"),
        (
            FunctionTransformer(shift),
            ValueError,
            "'func' is the function shift, and a file can refer only to absolute,",
        ),
        (FunctionTransformer(np.clip, kw_args={"a_min": 0, "a_max": 1}), ValueError, "'func' is the function clip"),
        (SelectKBest(lambda X, y: X.std(axis=0), k=2), ValueError, "'score_func' is the function <lambda>"),
        (make_pipeline(StandardScaler(), Mine()), TypeError, "In 'pipeline': In 'mine': A Mine"),
        (make_union(StandardScaler(), Mine()), TypeError, "In 'featureunion': In 'mine': A Mine"),
        (ColumnTransformer([("c", Mine(), [0])]), TypeError, "In 'columntransformer': In 'c': A Mine"),
    ],
)
def test_a_step_that_no_file_can_hold_is_named(step, error, words, tmp_path):
    X, y = iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(step, tree()).fit(X, y)
    with pytest.raises(error, match=words):
        pw.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_arguments_of_a_function_are_refused():
    X, y = iris()
    model = make_pipeline(FunctionTransformer(np.log1p, kw_args={"dtype": "float32"}), tree()).fit(X, y)
    with pytest.raises(ValueError, match="it has a FunctionTransformer with arguments"):
        pw.save(model, io.BytesIO())


def test_a_pipeline_without_a_model_of_ours_is_refused():
    X, y = iris()
    for end in (LogisticRegression(max_iter=1000), LinearRegression()):
        with pytest.raises(
            TypeError, match=f"In '{type(end).__name__.lower()}': A {type(end).__name__} cannot be saved"
        ):
            pw.save(make_pipeline(StandardScaler(), end).fit(X, y), io.BytesIO())
    for alone in (StandardScaler().fit(X), make_pipeline(StandardScaler()).fit(X), make_union(StandardScaler()).fit(X)):
        with pytest.raises(TypeError, match="without an estimator of planewise at its end cannot be saved"):
            pw.save(alone, io.BytesIO())
    with pytest.raises(TypeError, match="A LinearRegression cannot be saved"):
        pw.save(TransformedTargetRegressor(LinearRegression()).fit(X, y), io.BytesIO())


def test_a_step_that_is_not_fitted_is_named():
    X, y = iris()
    with pytest.raises(ValueError, match="Pipeline is not fitted yet"):
        pw.save(make_pipeline(StandardScaler(), tree()), io.BytesIO())
    model = Pipeline([("scale", StandardScaler()), ("tree", tree().fit(X, y))])
    with pytest.raises(ValueError, match="In 'scale': This StandardScaler is not fitted yet"):
        pw.save(model, io.BytesIO())


def test_what_belongs_to_the_machine_of_the_fit_is_not_kept(tmp_path):
    X, y = iris()
    columns = ColumnTransformer([("s", StandardScaler(), [0, 1])], n_jobs=1)
    model = Pipeline([("c", columns), ("t", tree())], memory=str(tmp_path)).fit(X, y)
    loaded = again(model)
    assert loaded.memory is None and loaded[0].n_jobs is None


def test_a_model_is_read_before_it_is_written(tmp_path):
    X, y = iris()
    model = make_pipeline(StandardScaler(), tree()).fit(X, y)
    model[0].scale_ = model[0].scale_[:2]
    with pytest.raises(ValueError, match=r"its file could not be loaded: it has a scale_ of shape \(2,\)"):
        pw.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------------- forged files
def forged(name, change, tmp_path):
    """Load a file of the catalogue's pipeline after a change of its first step and its arrays."""
    path = tmp_path / "m"
    pw.save(fitted(f"pipeline, {name}")[0], path)
    document, arrays = parts_of(path)
    step = document["model"]["parameters"]["steps"][0][1]
    change(step, arrays)
    write(path, document, arrays)
    pw.load(path)


def _shorten(*attributes):
    def change(step, arrays):
        for attribute in attributes:
            place = step["fitted"][attribute]
            place = place if isinstance(place, int) else next(iter(place.values()))
            arrays[place] = arrays[place][..., :-1]

    return change


def _set_to(where, key, value):
    return lambda step, arrays: step[where].update({key: value})


def _part(step, place):
    return step["fitted"]["transformers_"][place]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("StandardScaler", _shorten("mean_"), "mean_ of shape"),
        ("StandardScaler", _shorten("scale_"), "scale_ of shape"),
        ("StandardScaler", _set_to("fitted", "mean_", None), "two places|belong to no part|without mean_"),
        ("StandardScaler", _set_to("parameters", "with_mean", "yes"), "with_mean"),
        ("StandardScaler", _set_to("fitted", "n_features_in_", 3), "of shape"),
        ("MinMaxScaler", _shorten("data_min_"), "data_min_ of shape"),
        ("RobustScaler", _shorten("center_"), "center_ of shape"),
        ("PCA", _shorten("components_"), "_ of shape"),
        ("PCA", _set_to("fitted", "n_components_", 9), "another number of components_"),
        ("TruncatedSVD", _shorten("singular_values_"), "singular_values_ of shape"),
        ("QuantileTransformer", _shorten("quantiles_"), "quantiles_ of shape"),
        ("PowerTransformer", _shorten("lambdas_"), "lambdas_ of shape"),
        (
            "PowerTransformer",
            lambda step, arrays: step["fitted"].pop("_scaler"),
            "without its scaler|belong to no part",
        ),
        ("PolynomialFeatures, squares", _set_to("parameters", "degree", 99), "another number of columns"),
        ("PolynomialFeatures, squares", _set_to("parameters", "degree", 2**60), "impossible degree"),
        ("PolynomialFeatures, squares", _set_to("parameters", "degree", 3), "another number of columns"),
        ("SplineTransformer", _set_to("parameters", "degree", 5), "columns|knots"),
        ("SplineTransformer", _set_to("parameters", "degree", 2**40), "impossible degree"),
        ("SelectKBest", _set_to("parameters", "k", 3), "takes another number of columns than it gets"),
        ("SelectKBest", _set_to("parameters", "score_func", "eval"), "score_func that planewise does not know"),
        ("FunctionTransformer", _set_to("parameters", "func", "os.system"), "func that planewise does not know"),
        ("FunctionTransformer", _set_to("parameters", "kw_args", {"dict": [["out", 1]]}), "with arguments"),
        ("KBinsDiscretizer", _shorten("n_bins_"), "n_bins_ of shape"),
        ("KBinsDiscretizer", _set_to("parameters", "encode", "ordinal"), "does not match its encoder"),
        ("SimpleImputer", _shorten("statistics_"), "statistics_ of shape"),
        ("SimpleImputer", _set_to("parameters", "add_indicator", False), "does not match add_indicator"),
        ("SimpleImputer", _set_to("fitted", "_fit_dtype", {"dtype": "S99999999"}), "unknown type"),
        ("columns", lambda step, _: _part(step, 0).__setitem__(2, ["sepal length"]), "other names|another number"),
        ("columns", lambda step, _: _part(step, 0).__setitem__(2, ["a", "b"]), "column that the table does not have"),
        ("columns", lambda step, _: _part(step, 0).__setitem__(2, [0, 99]), "column that the table does not have"),
        ("columns", lambda step, _: _part(step, 0).__setitem__(0, "words"), "odd names"),
        ("columns", lambda step, _: _part(step, 1).__setitem__(1, "passthrough"), "two places|belong|not fitted"),
        ("columns", lambda step, _: step["fitted"]["transformers_"].pop(), "do not match|belong to no part|gets"),
        ("columns", _set_to("parameters", "verbose_feature_names_out", "{feature_name:>700000000}"), "odd pattern"),
        ("columns", _set_to("parameters", "verbose_feature_names_out", "{feature_name.__class__}"), "odd pattern"),
        ("columns", _set_to("parameters", "verbose_feature_names_out", "{feature_name"), "odd pattern"),
        ("columns", lambda step, _: step.update(kind="TableModel"), "of the wrong kind"),
        ("columns", lambda step, _: step.update(kind="sklearn.svm.SVC"), "does not know"),
        ("columns", lambda step, _: step.update(output="code"), "unknown output"),
    ],
)
def test_a_forged_step_is_refused_when_it_is_loaded(name, change, words, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        forged(name, change, tmp_path)


def test_forged_categories_are_refused(tmp_path):
    def encoder(step):
        return _part(step, 1)[1]["fitted"]

    with pytest.raises(ModelFileError, match="with a category twice"):
        forged("columns", lambda step, _: encoder(step)["categories_"][0]["object"].insert(0, "a"), tmp_path)
    with pytest.raises(ModelFileError, match="takes another number of columns than it gets"):
        forged("columns", lambda step, _: encoder(step)["categories_"][0]["object"].insert(0, "new"), tmp_path)
    with pytest.raises(ModelFileError, match=r"drop that it did not apply|of a category that it does not have"):
        forged("columns", lambda step, _: _part(step, 1)[1]["parameters"].update(drop="first"), tmp_path)


def test_estimators_inside_each_other_without_end_are_refused(tmp_path):
    path = tmp_path / "m"
    pw.save(fitted("pipeline, nested")[0], path)
    document, arrays = parts_of(path)
    for _ in range(40):
        document["model"] = {
            "kind": "Pipeline",
            "parameters": {"steps": [["only", document["model"]]]},
            "fitted": {},
        }
    write(path, document, arrays)
    with pytest.raises(ModelFileError, match="more than 12 estimators inside each other"):
        pw.load(path)


def test_a_forged_end_is_refused(tmp_path):
    path = tmp_path / "m"
    pw.save(fitted("pipeline, Normalizer")[0], path)
    document, _ = parts_of(path)
    steps = document["model"]["parameters"]["steps"]
    document["model"]["parameters"]["steps"] = steps[:1]
    write(path, document, [])
    with pytest.raises(ModelFileError, match="without a model of planewise at their end"):
        pw.load(path)


# ------------------------------------------------------------------------------------------------------- versions
def test_another_version_of_scikit_learn_is_told(tmp_path):
    path = tmp_path / "m"
    for name, holds_theirs in (("pipeline, PCA", True), ("tree, frame", False)):
        pw.save(fitted(name)[0], path)
        document, arrays = parts_of(path)
        document["versions"]["scikit-learn"] = "0.99.1"
        write(path, document, arrays)
        if holds_theirs:
            now = re.escape(sklearn.__version__)
            with pytest.warns(UserWarning, match=rf"fitted with scikit-learn 0\.99\.1; this is {now}"):
                pw.load(path)
        else:
            pw.load(path)  # without a warning


def test_the_page_lists_what_can_be_saved():
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    section = page.split("## Pipelines")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named >= {*TRANSFORMERS, *COMPOSITIONS, *FUNCTIONS, *SCORES}
    others = {"DiscriminantFeatureTest", "TypeError", "ValueError", "None", "UserWarning"}
    assert {name for name in named if name[0].isupper()} <= {*TRANSFORMERS, *COMPOSITIONS, *others}
