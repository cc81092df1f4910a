"""scikit-learn's callbacks, in the versions that have them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from clean_shell import run_python
from planewise import (
    LargeScaleMCMClassifier,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMViewsClassifier,
    SLMViewsRegressor,
)

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:200]), y[:200]

MODELS = {
    "boosted classes": SLMBoostClassifier(n_estimators=5, random_state=0),
    "boosted numbers": SLMBoostRegressor(n_estimators=5, random_state=0),
    "stopped early": SLMBoostClassifier(n_estimators=5, early_stopping=True, random_state=0),
    "forest of classes": SLMForestClassifier(n_estimators=40, max_depth=3, random_state=0),
    "forest of numbers": SLMForestRegressor(n_estimators=40, max_depth=3, random_state=0),
    "large machine": LargeScaleMCMClassifier(max_iter=4, random_state=0),
    "conformal machine": LargeScaleMCMClassifier(max_iter=4, conformal="signed", random_state=0),
    "repeated machine": LargeScaleMCMClassifier(
        max_iter=4, conformal="signed", conformal_start="after_fit", random_state=0
    ),
}
N_STEPS = {
    "stopped early": 6,
    "forest of classes": 3,
    "forest of numbers": 3,
    "large machine": 4,
    "repeated machine": 8,
}


class Told:
    """A callback that keeps what it hears, and may ask to stop after so many steps."""

    def __init__(self, stop_after=None):
        self.stop_after, self.events, self.fitted = stop_after, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.fitted.append((fitted_estimator, None if fitted_estimator is None else fitted_estimator.predict(X)))
        return self.stop_after is not None and len(self.fitted) >= self.stop_after


@pytest.fixture(autouse=True)
def _since_scikit_learn_1_9():
    pytest.importorskip("sklearn.callback")


@pytest.mark.parametrize("name", MODELS)
def test_callbacks_hear_of_every_step_and_change_nothing(name):
    told, alone = Told(), clone(MODELS[name]).fit(X, y)
    model = clone(MODELS[name]).set_callbacks(told)
    model.fit(X, y)
    assert_array_equal(model.predict(X), alone.predict(X))
    steps = [event for event in told.events if event.startswith("end ") and event != "end fit"]
    assert told.events[:2] == ["setup", "begin fit"]
    assert told.events[-2:] == ["end fit", "teardown"]
    assert len(steps) == N_STEPS.get(name, len(steps)) >= 4 or name.startswith("forest")
    assert told.events.count(steps[0].replace("end", "begin")) == told.events.count(steps[0])
    for fitted, predicted in told.fitted:
        assert fitted is not None
        assert len(predicted) == len(y)
    assert_array_equal(told.fitted[-1][1], alone.predict(X))


@pytest.mark.parametrize("name", ["boosted classes", "boosted numbers", "stopped early"])
def test_boosting_so_far_is_its_first_rounds(name):
    told = Told()
    model = clone(MODELS[name]).set_params(refit=False).set_callbacks(told).fit(X, y)
    stages = list(model.staged_predict(X))
    for (fitted, predicted), stage in zip(told.fitted, stages, strict=False):
        assert_array_equal(predicted, stage)
        assert fitted.n_iter_ <= model.n_iter_


@pytest.mark.parametrize("name", ["boosted classes", "boosted numbers", "stopped early"])
def test_boosting_so_far_can_be_saved(name, tmp_path):
    class Saving(Told):
        def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
            planewise.save(fitted_estimator, tmp_path / "model")
            self.fitted.append((fitted_estimator.predict(X), planewise.load(tmp_path / "model").predict(X)))

    saving = Saving()
    clone(MODELS[name]).set_callbacks(saving).fit(X, y)
    assert len(saving.fitted) > 5
    for fitted, loaded in saving.fitted:
        assert_array_equal(loaded, fitted)


@pytest.mark.parametrize("name", MODELS)
def test_callbacks_that_ask_to_stop_end_the_fit(name):
    told = Told(stop_after=2)
    model = clone(MODELS[name]).set_callbacks(told).fit(X, y)
    assert len([event for event in told.events if event.startswith("end ") and event != "end fit"]) == 2
    if hasattr(model, "n_iter_"):
        assert model.n_iter_ == 2
    else:
        assert model.forest_.n_trees == 32
        first = clone(MODELS[name]).set_params(n_estimators=32).fit(X, y)
        assert_array_equal(model.forest_.value, first.forest_.value)
    assert model.score(X, y) > 0.2


def test_a_forest_stops_at_the_same_tree_for_any_number_of_threads():
    forests = [
        clone(MODELS["forest of classes"]).set_params(n_jobs=n_jobs).set_callbacks(Told(stop_after=1)).fit(X, y)
        for n_jobs in (1, 3)
    ]
    assert_array_equal(*(forest.forest_.value for forest in forests))


def test_a_fit_that_fails_tears_callbacks_down_and_leaves_the_estimator():
    told = Told()

    def fails(*_):
        raise KeyError("no")

    model = SLMBoostClassifier(n_estimators=3, callbacks=[fails]).set_callbacks(told)
    with pytest.raises(KeyError):
        model.fit(X, y)
    assert told.events[-1] == "teardown"
    assert not hasattr(model, "forest_")


def test_own_and_scikit_learns_callbacks_both_hear_and_can_both_stop():
    heard, told = [], Told()
    model = SLMBoostClassifier(n_estimators=9, callbacks=[lambda number, losses: heard.append(number) or number == 3])
    model.set_callbacks(told).fit(X, y)
    assert heard == [1, 2, 3]
    assert told.events.count("end round") == 3
    assert model.n_iter_ == 3


def test_the_scoring_monitor_scores_every_round():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    model = SLMBoostClassifier(n_estimators=4, random_state=0).set_callbacks(monitor).fit(X, y, np.ones(len(y)))
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert scores == [np.mean(stage == y) for stage in model.staged_predict(X)]


def test_callbacks_reach_through_pipelines_and_searches():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="r2")
    numbers, target = load_diabetes(return_X_y=True)
    boost = SLMBoostRegressor(n_estimators=2, random_state=0).set_callbacks(monitor)
    make_pipeline(StandardScaler(), boost).fit(numbers, target)
    assert len(monitor.get_logs().data) >= 2

    class Everywhere(Told):
        max_propagation_depth = None

    told = Everywhere()
    search = GridSearchCV(SLMBoostRegressor(n_estimators=2), {"max_depth": [1, 2]}, cv=2).set_callbacks(told)
    search.fit(numbers, target)
    assert told.events.count("end round") == 2 * (2 * 2 + 1)  # two rounds in each of four fits and the last one
    assert not hasattr(search.best_estimator_, "_parent_callback_ctx")


@pytest.mark.parametrize("views", [SLMViewsClassifier, SLMViewsRegressor])
def test_sums_of_views_have_no_model_to_score_before_the_views_are_chosen(views):
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy" if views is SLMViewsClassifier else "r2")
    views(n_estimators=5, max_views=2, cv=2, random_state=0).set_callbacks(monitor).fit(X, y)
    assert {row["task_name"] for row in monitor.get_logs().data} == {"refit", "fit"}


def test_the_progress_bar_works(capfd):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    for model in (MODELS["boosted classes"], MODELS["forest of numbers"]):
        clone(model).set_callbacks(ProgressBar()).fit(X, y)
    assert "SLMBoostClassifier" in capfd.readouterr().out


def test_estimators_work_where_scikit_learn_has_no_callbacks():
    run_python("""
        import sys
        sys.modules["sklearn.callback"] = None  # as in versions before 1.9
        from sklearn.datasets import load_iris
        from planewise import SLMBoostClassifier, SLMForestClassifier
        X, y = load_iris(return_X_y=True)
        for model in (SLMBoostClassifier(n_estimators=2), SLMForestClassifier(n_estimators=2)):
            assert not hasattr(model, "set_callbacks")
            assert model.fit(X, y).score(X, y) > 0.5
    """)
