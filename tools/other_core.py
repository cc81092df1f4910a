"""planewise with another build of its compiled module than the installed one."""

from __future__ import annotations

import importlib.util
import sys


def use_core(path: str) -> None:
    """Let planewise find this build; call it before planewise is imported."""
    spec = importlib.util.spec_from_file_location("planewise._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planewise._core"] = module
    spec.loader.exec_module(module)
