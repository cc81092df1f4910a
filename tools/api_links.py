"""Link the names of planewise in the guide pages to their API pages, as `docs/conf.py` asks.

Inline code that is a public name becomes a link: ``planewise.parts.from_batches``, ``planewise.dask``,
``SLMClassifier``, ``to_c``, and calls such as ``to_c(tree)``. A short name is linked only if it can mean one thing.
"""

from __future__ import annotations

import importlib
import re
from collections import defaultdict

import planewise

# Their functions are also called by their short names. Those of other packages share names with parameters: max_rows.
CALLED = ("export", "parts", "published", "recip", "tools")
CALL = re.compile(r"([\w.]+)(\(.*\))?", flags=re.S)


def api_names(methods: set[str]) -> dict[str, str]:
    """The names that a page may use, and the full names they stand for.

    Parameters
    ----------
    methods : set of str
        Names of documented methods: a function's short name that is among them, such as ``to_text``, is not linked.
    """
    full, short = {"planewise"}, defaultdict(set)
    for part in planewise._PARTS:
        full.add(f"planewise.{part}")
        for name in importlib.import_module(f"planewise.{part}").__all__:
            full.add(f"planewise.{part}.{name}")
            is_class = re.search("[a-z][A-Z]", name) is not None  # not Path or View, which are words as well
            if is_class or (part in CALLED and "_" in name and name not in methods):
                short[name].add(f"planewise.{part}.{name}")
    named = {name: meant.pop() for name, meant in short.items() if len(meant) == 1}
    for name in {*planewise.__all__} - {"__version__", *planewise._PARTS}:
        full.add(f"planewise.{name}")
        if name[0].isupper():
            named[name] = f"planewise.{name}"
    return named | {name: name for name in full}


def full_name(code: str, names: dict[str, str]) -> str | None:
    """The full name that inline code stands for, if it is a public name or a call of one."""
    match = CALL.fullmatch(code)
    return names.get(match[1]) if match else None
