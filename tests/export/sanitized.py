"""Exported headers run under the address and undefined-behaviour sanitizers, on rows that try them.

python tests/export/sanitized.py [--rows 20000]     every model of the tests, every compiler, exact and compact
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from compiled import COMPILERS, compile_with, undecided
from fitted import (
    GAPPY_MACHINES,
    KINDS,
    MACHINES,
    TREES,
    encoded,
    fitted_machine,
    fitted_tree,
    gappy_rows,
    machine_rows,
    trial_rows,
)

from planewise.export import to_c

FLAGS = ["-std=c99", "-O1", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
EDGES = np.float32(
    [
        *(0, -0.0, 1, -1, 0.5, 1.5, 1e-40, -1e-40, 254, 255, 256, 65535, 65536, 2**31, -(2**31), 2**32, 9.3e18),
        *(1e9, -1e9, 1e30, -1e30, 3.4028235e38, -3.4028235e38, np.nan, np.inf, -np.inf),
    ]
)


def models(everything):
    """(name, model, table of the fit): every kind of header, or each estimator and setting once."""
    for k, which in enumerate(TREES):
        for kind in KINDS if everything else [KINDS[(k + 1) % len(KINDS)]]:
            yield (f"{which}_{kind}", *fitted_tree(which, kind))
    for which in MACHINES:
        yield (which, *fitted_machine(which))
    for k, which in enumerate(GAPPY_MACHINES):
        for kind in ["gaps", "categories"] if everything else [["gaps", "categories"][k % 2]]:
            yield (f"{which}_{kind}", *fitted_machine(which, kind))


def rows_for(model, X, n_rows, seed=0):
    """Rows that ``predict`` takes, the same for the header, and strange ones that only the header may get."""
    rng = np.random.default_rng(seed)
    trees = hasattr(model, "tree_") or hasattr(model, "forest_")
    if trees:
        shown, given = trial_rows(model, X)
    else:
        shown, given = gappy_rows(model, X) if pd.isna(X).any(axis=None) else (machine_rows(X),) * 2
    if len(given) < n_rows:
        more = rng.integers(0, len(given), n_rows - len(given))
        shown = pd.concat([shown, shown.iloc[more]], ignore_index=True) if isinstance(shown, pd.DataFrame) else shown
        if not isinstance(shown, pd.DataFrame):
            noise = 1 + 0.1 * rng.normal(size=(len(more), given.shape[1]))
            shown = np.vstack([shown, shown[more] * noise]).astype(np.float32)
        given = encoded(model, shown) if isinstance(shown, pd.DataFrame) else shown
    strange = np.resize(given, (max(200, n_rows // 4), given.shape[1])).astype(np.float32)
    at = rng.random(strange.shape) < 0.4
    strange[at] = rng.choice(EDGES, int(at.sum()))
    every = np.repeat(EDGES[:, None], given.shape[1], axis=1)
    return shown, given, np.vstack([strange, every])


def program(named):
    """One C program that answers the rows of every header: numbers as floats, or labels and probabilities."""
    parts, calls = ["#include <stdio.h>", "#include <stdlib.h>"], []
    for name, (header, n_features, n_classes) in named.items():
        parts.append(f'#include "{name}.h"')
        n_out = 1 + (n_classes or 0)
        answer = f"p[0] = {name}_predict(x);"
        if n_classes is not None:
            proba = f" {name}_predict_proba(x, p + 1);" if f"{name}_predict_proba(" in header else ""
            answer = f"p[0] = (float){name}_predict(x);{proba}"
        # Of their own size on the heap, so that one step too far is seen.
        calls.append(f"""    {{
        float *x = malloc({n_features} * sizeof(float)), *p = calloc({n_out}, sizeof(float));
        FILE *in = fopen("{name}.in", "rb"), *out = fopen("{name}.out", "wb");
        if (!x || !p || !in || !out) return 1;
        while (fread(x, sizeof(float), {n_features}, in) == {n_features}) {{
            {answer}
            fwrite(p, sizeof(float), {n_out}, out);
        }}
        free(x); free(p); fclose(in); fclose(out);
    }}
""")
    return "\n".join(parts) + "\nint main(void)\n{\n" + "".join(calls) + "    return 0;\n}\n"


def run(compiler, chosen, folder, n_rows=0, values="exact"):
    """Answers of all headers, by model; an AssertionError with the sanitizer's words if one misbehaves."""
    named, asked = {}, {}
    for name, model, X in chosen:
        call = "of_" + name.replace("-", "_")
        shown, given, strange = rows_for(model, X, n_rows)
        classes = getattr(model, "classes_", None)
        header = to_c(model, folder / f"{call}.h", name=call, values=values)
        np.vstack([given, strange]).astype(np.float32).tofile(folder / f"{call}.in")
        named[call] = header, given.shape[1], None if classes is None else len(classes)
        asked[call] = model, shown, given
    (folder / "all.c").write_text(program(named))
    compile_with(compiler, folder / "all.c", folder / "all", *FLAGS, "-Wno-unused-function", "-Wno-unused-variable")
    done = subprocess.run([str(folder / "all")], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr[:3000]
    for call, (model, shown, given) in asked.items():
        width = 1 + (named[call][2] or 0)
        answers = np.fromfile(folder / f"{call}.out", np.float32).reshape(-1, width)
        compare(call, model, shown, given, answers, values)
    return len(named)


def compare(call, model, shown, given, answers, values):
    """The header's answers are those of predict on rows it takes; of any others, at least a class that there is."""
    usual = answers[: len(given)]
    if values == "compact":  # rounded: its bounds are tested elsewhere
        return
    if not hasattr(model, "classes_"):
        expected = model.predict(shown).reshape(len(shown), -1)
        np.testing.assert_allclose(usual, expected, rtol=1e-6, atol=1e-5 * np.ptp(expected), err_msg=call)
        return
    label = answers[:, 0].astype(int)
    assert ((label >= 0) & (label < len(model.classes_))).all(), call
    keep = ~undecided(model, shown)
    np.testing.assert_array_equal(model.classes_[label[: len(given)]][keep], model.predict(shown)[keep], err_msg=call)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(usual[:, 1:], model.predict_proba(shown), atol=1e-5, err_msg=call)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000, help="for each header")
    args = parser.parse_args()
    for compiler in COMPILERS:
        for values in ("exact", "compact"):
            with tempfile.TemporaryDirectory() as folder:
                n = run(compiler, models(everything=True), Path(folder), args.rows, values)
            print(
                f"{compiler}, {values}: {n} headers, {args.rows} rows and as many strange ones as a quarter each: good"
            )
    sys.exit(not COMPILERS)


if __name__ == "__main__":
    main()
