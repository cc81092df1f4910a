"""Headers of every estimator run under sanitizers, on rows like those of the fit and on strange ones."""

from __future__ import annotations

import pytest
from compiled import COMPILERS, needs_compiler
from sanitized import models, run


@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_address_and_no_undefined_behaviour(compiler, tmp_path):
    half = list(models(everything=False))[COMPILERS.index(compiler) :: len(COMPILERS)]
    assert run(compiler, half, tmp_path) == len(half)
