"""`import planewise` is quick, and every public name is there all the same."""

from __future__ import annotations

from pkgutil import iter_modules

import pytest

import planewise
from clean_shell import run_python


def modules_after(code):
    """What is loaded when a new interpreter has run the code."""
    run = f"{code}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"
    done = run_python("-c", run)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_the_package_alone_loads_neither_scikit_learn_nor_numpy():
    assert not modules_after("import planewise") & {"sklearn", "numpy", "scipy", "polars"}


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_needs_no_library_that_is_slow_to_start(words):
    code = f"import sys\nsys.argv = ['planewise', *{words}]\nfrom planewise.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass"
    assert not modules_after(code) & {"sklearn", "scipy", "polars"}


def test_a_model_file_brings_in_its_own_family_alone(tmp_path):
    X = [[0.0], [1.0], [2.0], [3.0]] * 5
    planewise.save(planewise.SLMClassifier().fit(X, [0, 0, 1, 1] * 5), tmp_path / "m")
    loaded = modules_after(f"import planewise; planewise.load({str(tmp_path / 'm')!r})")
    assert "planewise.trees" in loaded and not loaded & {"planewise.machines", "planewise.recip"}


def test_every_public_name_is_there():
    for name in planewise.__all__:
        assert getattr(planewise, name) is not None
        assert dir(planewise).count(name) == 1
    from planewise import SLMClassifier, trees

    assert trees.SLMClassifier is SLMClassifier is planewise.SLMClassifier


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'planewise' has no attribute 'SLMTree'"):
        planewise.SLMTree  # noqa: B018
    with pytest.raises(ImportError):
        from planewise import SLMTree  # noqa: F401


PARTS = [
    *("additive", "dask", "data", "evaluate", "explain", "export", "machines"),
    *("plot", "published", "recip", "report", "store", "table", "trees"),
]


def test_every_public_part_is_an_attribute_after_a_plain_import():
    loaded = modules_after(f"import planewise\nfor part in {PARTS}: getattr(planewise, part)")
    assert {f"planewise.{part}" for part in PARTS} <= loaded
    assert set(PARTS) <= set(dir(planewise))


def test_every_public_package_is_a_part():
    """cli is the command; whatever else has no underscore can be used after a plain import."""
    found = {each.name for each in iter_modules(planewise.__path__) if not each.name.startswith("_")}
    assert found - {"cli"} == set(PARTS)


def answers(code):
    """What a new interpreter without dask and matplotlib prints."""
    hidden = "import sys\nsys.modules['dask'] = sys.modules['matplotlib'] = None\n"
    done = run_python("-c", hidden + code)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "code", ["import planewise; planewise.dask", "from planewise import dask", "import planewise.dask"]
)
def test_a_part_whose_extra_is_missing_names_the_extra(code):
    *_, last = answers(code).splitlines()
    assert "needs dask, which is not installed: install planewise with its extra 'dask'" in last


def test_pictures_name_their_extra_when_they_are_drawn():
    model = "planewise.SLMClassifier().fit([[0.0], [1.0]], [0, 1])"
    *_, last = answers(f"import planewise\nplanewise.plot.TreeDisplay.from_estimator({model}).plot()").splitlines()
    assert last.startswith("ModuleNotFoundError: ")
    assert "install planewise with its extra 'plot'" in last


def test_a_missing_extra_does_not_break_those_who_look_at_every_name():
    code = "import inspect, planewise\nprint(len(inspect.getmembers(planewise)) > 20, hasattr(planewise, 'dask'))"
    assert answers(code) == "True False\n"
