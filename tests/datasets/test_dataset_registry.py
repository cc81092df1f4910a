from __future__ import annotations

import pytest

from planewise.datasets import list_datasets, load
from planewise.datasets._load import VARIANTS
from planewise.datasets._registry import TASKS, registry
from planewise.datasets._sources import BUNDLED


def test_all_63_sets_are_listed_in_order():
    names = list_datasets()
    assert len(names) == len(set(names)) == 63
    assert names == sorted(names)


def test_every_set_has_one_of_the_two_tasks():
    classification, regression = (list_datasets(task=task) for task in TASKS)
    assert "sonar" in classification and "boston_housing" in regression
    assert sorted(classification + regression) == list_datasets()


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match=r"task must be None or one of .* got 'ranking'"):
        list_datasets(task="ranking")


def test_every_set_says_where_it_comes_from_and_under_which_licence():
    for info in registry().values():
        assert info.source and info.licence
        assert info.rows > 0 and info.features > 0
        assert info.openml_id is None or info.openml_id > 0


def test_no_two_sets_share_an_openml_id():
    ids = [info.openml_id for info in registry().values() if info.openml_id is not None]
    assert len(ids) == len(set(ids))


def test_bundled_sets_and_variants_are_known_sets():
    assert set(BUNDLED) <= set(registry())
    assert set(VARIANTS) <= set(registry())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("irris", "iris"), ("Sonar", "sonar"), ("pima", "pima_diabetes"), ("wdbc", "_wdbc")],
)
def test_an_unknown_name_suggests_close_ones(wrong, right):
    with pytest.raises(ValueError, match=f"Unknown data set '{wrong}'. Did you mean .*{right}'"):
        load(wrong)


@pytest.mark.parametrize("name", ["qqqqqq", ""])
def test_a_name_like_no_other_points_to_the_list(name):
    with pytest.raises(ValueError, match=r"list_datasets\(\)"):
        load(name)
