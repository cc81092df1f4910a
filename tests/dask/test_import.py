"""`planewise.dask` is loaded only when it is used, and names its extra."""

from __future__ import annotations

from clean_shell import run_python


def test_planewise_alone_does_not_load_dask():
    code = "import planewise, sys; planewise.SLMClassifier; print('dask' in sys.modules, 'distributed' in sys.modules)"
    assert run_python("-c", code).stdout == "False False\n"


def test_the_extra_is_named_if_dask_is_missing():
    done = run_python("-c", "import sys; sys.modules['distributed'] = None\nimport planewise.dask")
    assert (
        "planewise.dask needs distributed, which is not installed: install planewise with its extra 'dask'"
        in done.stderr
    )
