"""Models are logged and loaded in MLflow's default format for scikit-learn models, which is that of skops."""

from __future__ import annotations

import mlflow
import numpy as np
import pytest
import yaml
from examples_to_fit import CLASSIFIERS, REGRESSORS, problem, table
from mlflow.models import infer_signature
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from planewise.store import SKOPS_TRUSTED_TYPES

MODELS = CLASSIFIERS | REGRESSORS
# MLflow starts a new Python that imports the model to find out what it requires, unless it is told.
REQUIRED = {"pip_requirements": [f"planewise=={planewise.__version__}"]}

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning"
)  # MLflow's own


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """The number of an experiment whose runs are in a folder of their own."""
    folder = tmp_path_factory.mktemp("runs")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    yield mlflow.create_experiment("planewise", str(folder / "artifacts"))
    mlflow.set_tracking_uri(None)


def logged(model, X, experiment, **options):
    with mlflow.start_run(experiment_id=experiment):
        return mlflow.sklearn.log_model(
            model,
            name="model",
            signature=infer_signature(X, model.predict(X)),
            input_example=X[:3],
            skops_trusted_types=SKOPS_TRUSTED_TYPES,
            **options,
        )


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_logged_and_loaded(name, experiment):
    X, y = problem(name)
    model = clone(MODELS[name]).fit(X, y)
    info = logged(model, X, experiment, **REQUIRED)
    assert info.flavors["sklearn"]["serialization_format"] == "skops"
    np.testing.assert_array_equal(mlflow.sklearn.load_model(info.model_uri).predict(X), model.predict(X))
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(info.model_uri).predict(X), model.predict(X))


def test_a_model_of_named_columns_and_words_is_logged_with_what_it_requires(experiment):
    X, y = problem("SLMBoostClassifier", table)
    model = clone(CLASSIFIERS["SLMBoostClassifier"]).set_params(categorical_features=["colour"]).fit(X, y)
    info = logged(model, X, experiment)
    assert info.signature.inputs.input_names() == list(X.columns)
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(info.model_uri).predict(X), model.predict(X))
    required = mlflow.pyfunc.get_model_dependencies(info.model_uri)
    with open(required, encoding="utf-8") as lines:
        assert f"planewise=={planewise.__version__}" in lines.read()


def test_a_pipeline_is_saved_without_a_run(tmp_path):
    X, y = problem("MCMClassifier")
    model = make_pipeline(StandardScaler(), clone(CLASSIFIERS["MCMClassifier"])).fit(X, y)
    mlflow.sklearn.save_model(model, tmp_path / "model", skops_trusted_types=SKOPS_TRUSTED_TYPES, **REQUIRED)
    flavour = yaml.safe_load((tmp_path / "model" / "MLmodel").read_text())["flavors"]["sklearn"]
    assert flavour["serialization_format"] == "skops"
    np.testing.assert_array_equal(mlflow.sklearn.load_model(str(tmp_path / "model")).predict(X), model.predict(X))


def test_without_the_list_mlflow_refuses_and_names_the_types(experiment):
    X, y = problem("SLMClassifier")
    model = clone(CLASSIFIERS["SLMClassifier"]).fit(X, y)
    with (
        mlflow.start_run(experiment_id=experiment),
        pytest.raises(mlflow.MlflowException, match=r"planewise\.trees\.tree\.SLMClassifier"),
    ):
        mlflow.sklearn.log_model(model, name="model", **REQUIRED)
