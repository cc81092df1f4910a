"""Plant deliberate faults one by one in a copy of the sources: the tests must catch each of them.

``make faults`` plants forty faults. Each breaks one documented behaviour by changing one line, and the test files where
one would look for that behaviour are run. A fault is caught when a test fails with it that passes without it. A fault
that is not caught is a hole in the tests, to be closed by a test of the behaviour. Keep the faults when code moves:
``file``, ``old`` and ``new`` follow the code, the sentence stays.

``ALL=1`` runs the whole suite for each fault, to see whether a large change of the tests lost something that the named
files do not show; its results are kept in ``build/faults/all.json``. ``ONLY=word`` takes the faults whose sentence
contains the word.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "faults"
COPY = BUILD / "copy"
NATIVE_TESTS = "tests/native"  # as an entry of `tests`: the native tests
LONGEST = 1200  # seconds that the tests of a fault may take, without ALL


@dataclass(frozen=True)
class Fault:
    """A documented behaviour, and the change of one line that breaks it."""

    sentence: str
    file: str
    old: str  # occurs once in the file
    new: str
    tests: tuple[str, ...]


FAULTS = (
    # ---------------------------------------------------------------------------------------------------- the core
    Fault(
        "A row whose sum equals the threshold is on the right side of the plane.",
        "native/plane.hpp",
        "static_cast<std::uint32_t>(sum >= threshold)",
        "static_cast<std::uint32_t>(sum > threshold)",
        ("tests/native",),
    ),
    Fault(
        "Every plane learns which side missing values go to.",
        "native/choose.hpp",
        "missing_right >= (missing > 0 ? 0 : 1);",
        "missing_right >= 1;",
        ("tests/native",),
    ),
    Fault(
        "reg_lambda is added to the Hessian of both sides of a cut.",
        "native/statistics.cpp",
        "rh = sides.right_h[e] + lambda;",
        "rh = sides.right_h[e];",
        ("tests/native",),
    ),
    Fault(
        "Smoothing pulls the value of a node towards the value of its parent.",
        "native/statistics.hpp",
        "smoothing * above[0] : 0.0);",
        "smoothing * 0.0 : 0.0);",
        ("tests/trees/test_laws.py", "tests/trees/test_boost.py"),
    ),
    Fault(
        "The bin of a value is the number of edges that are not above it.",
        "native/measure.cpp",
        "b += v >= edges[e];",
        "b += v > edges[e];",
        ("tests/native",),
    ),
    Fault(
        "A category that was not seen in fit goes to the side with more rows.",
        "native/choose.hpp",
        "plane.set_right = !heavier_right(threshold);",
        "plane.set_right = heavier_right(threshold);",
        ("tests/trees/test_categories.py",),
    ),
    Fault(
        "Under a monotone constraint, no value below a plane passes the middle of its two sides.",
        "native/forest.cpp",
        "bounds[left] = sides.first;",
        "bounds[left] = bounds[node];",
        ("tests/trees/test_monotone.py",),
    ),
    Fault(
        "The terms of a plane share its contribution by how far weight times value is from usual.",
        "native/contributions.cpp",
        "std::fabs(static_cast<double>(forest_.term_weight[t]) * apart)",
        "std::fabs(apart)",
        ("tests/trees/test_contributions.py",),
    ),
    Fault(
        "A row of the training table is not its own neighbour.",
        "native/neighbours.cpp",
        "if (row != exclude) list.consider(square[l], row);",
        "list.consider(square[l], row);",
        ("tests/recip/test_neighbours.py",),
    ),
    Fault(
        "The gradient and the Hessian of the Tweedie loss are its derivatives.",
        "native/objectives.cpp",
        "(p - 1) * part + (2 - p) * rest, least_hessian",
        "(p - 1) * part + rest, least_hessian",
        ("tests/native",),
    ),
    Fault(
        "The model does not depend on the number of threads.",
        "native/grow.cpp",
        "Random random(options_.seed, static_cast<std::uint64_t>(id));",
        "Random random(options_.seed, static_cast<std::uint64_t>(id + threads_.count()));",
        ("tests/trees/test_laws.py",),
    ),
    Fault(
        "A weight of two is the row twice, also among the rows that a trial tree sets aside.",
        "native/set_aside.cpp",
        "Random random(noise, group.key);",
        "Random random(noise, group.first);",
        ("tests/native", "tests/trees/test_tree_trials.py", "tests/trees/test_laws.py"),
    ),
    Fault(
        "The linear program of a kernel machine is solved to its optimum, the bound h on scores included.",
        "native/complexity_program.cpp",
        "1 - under_ceiling < -1e-9)",
        "1 - under_ceiling < -1e9)",
        ("tests/machines/test_linear_program.py",),
    ),
    Fault(
        "What two single columns gain together counts the second one's step on what the first one leaves.",
        "native/view_gains.cpp",
        "g[c] += gradient_[r * wide_ + c] - step * hessian_[r * wide_ + c];",
        "g[c] += gradient_[r * wide_ + c];",
        ("tests/additive/test_gains.py",),
    ),
    Fault(
        "Weights count in the medians and quantiles of leaves.",
        "native/boost.cpp",
        "weight[node].push_back(rows_.weight()[i]);",
        "weight[node].push_back(1.0);",
        ("tests/trees/test_objectives.py", "tests/trees/test_laws.py"),
    ),
    # ---------------------------------------------------------------------------------------------------- data
    Fault(
        "A weight of zero leaves the row out.",
        "src/planewise/data/problem.py",
        "return arrays if counts.all() else tuple(array[counts] for array in arrays)",
        "return arrays",
        ("tests/test_zero_weights.py",),
    ),
    Fault(
        "A column of two values is scaled by half their distance.",
        "src/planewise/data/scaling.py",
        "(float(high[j]) - float(low[j])) / 2",
        "(float(high[j]) - float(low[j]))",
        ("tests/test_scaling.py",),
    ),
    Fault(
        "Categories that only some partitions have are united.",
        "src/planewise/data/survey.py",
        "return ours if np.array_equal(ours, theirs) else learn_categories(np.concatenate([ours, theirs]), name)",
        "return ours",
        ("tests/data/test_survey.py",),
    ),
    Fault(
        "A decimal comma in a CSV file is found.",
        "src/planewise/data/files/numbers.py",
        'decimal = usual if fixed or commas == points else "," if commas else "."',
        'decimal = usual if fixed or commas == points else "."',
        ("tests/data/test_messy_tables.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- explain
    Fault(
        'A plane whose weights are all negative is turned round and reads "at most".',
        "src/planewise/explain/planes.py",
        'else ("≤" if form.turned else "≥")',
        'else "≥"',
        ("tests/explain/test_numbers_and_text.py", "tests/explain/test_kinds.py", "tests/explain/test_descriptions.py"),
    ),
    # ---------------------------------------------------------------------------------------------------- store
    Fault(
        "A file with one array cut short is rejected.",
        "src/planewise/store/declaration.py",
        "require(array.shape == shape,",
        "require(array.ndim == len(shape),",
        ("tests/store/test_bad_files.py",),
    ),
    Fault(
        "The checksum of a model file covers its arrays.",
        "src/planewise/store/container.py",
        "digest.update(arrays)",
        "digest.update(arrays[:0])",
        ("tests/store/test_bad_files.py",),
    ),
    Fault(
        "When writing fails, the file that was there stays as it was.",
        "src/planewise/_atomic.py",
        'with os.fdopen(handle, "wb") as file:',
        'with open(target, "wb") as file:',
        ("tests/test_atomic.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- trees
    Fault(
        "A training row's own fold has no part in its target statistics.",
        "src/planewise/trees/target_statistics.py",
        "others = sums.sum(axis=1, keepdims=True) - sums",
        "others = sums.sum(axis=1, keepdims=True) - 0 * sums",
        ("tests/trees/test_target_statistics.py",),
    ),
    Fault(
        "At a probability of one half, boosting predicts the first of two classes.",
        "src/planewise/trees/losses.py",
        "return (score[:, 0] > 0).astype(np.intp) if self.n_outputs == 1",
        "return (score[:, 0] >= 0).astype(np.intp) if self.n_outputs == 1",
        ("tests/trees/test_boost.py",),
    ),
    Fault(
        "With early stopping, the model keeps the rounds up to the lowest validation loss.",
        "src/planewise/trees/boosting.py",
        "self.best_iteration_ = int(np.argmin(losses)) + 1 if losses else None",
        "self.best_iteration_ = len(losses) if losses else None",
        ("tests/trees/test_evaluation.py", "tests/trees/test_refit.py"),
    ),
    # ---------------------------------------------------------------------------------------------------- additive
    Fault(
        "An effect that several views share is moved to the view of this column alone, if there is one.",
        "src/planewise/additive/purify.py",
        "return (alone or having)[0]",
        "return having[0]",
        ("tests/additive/test_views.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- machines
    Fault(
        "The columns of a machine's predict_proba are in the order of classes_.",
        "src/planewise/machines/scores.py",
        "np.column_stack([log_expit(-slope * scores[:, 0]), log_expit(slope * scores[:, 0])])",
        "np.column_stack([log_expit(slope * scores[:, 0]), log_expit(-slope * scores[:, 0])])",
        ("tests/machines/test_classifier.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- recip
    Fault(
        "Eq. 9 raises the ratio of distances to m (1 - alpha), m being the view's number of features.",
        "src/planewise/recip/decision.py",
        "ratio **= (dimension * (1 - tsallis_order))[:, None, None]",
        "ratio **= (dimension * 0 + (1 - tsallis_order))[:, None, None]",
        ("tests/recip/test_entropy.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- published
    Fault(
        "The default of lam in the published RECIP shrinks with the square of 1 - alpha.",
        "src/planewise/published.py",
        '9.0 * (2 * (1 - known["alpha"])) ** 2 if',
        '9.0 * (2 * (1 - known["alpha"])) if',
        ("tests/published/test_published_recip.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- export
    Fault(
        "A column name cannot end a comment of a C header.",
        "src/planewise/export/c_text.py",
        r'letter not in "*\\?"',
        r'letter not in "\\?"',
        ("tests/export/test_hostile_names.py",),
    ),
    Fault(
        "An ONNX model sends a category that was not seen in fit where predict does.",
        "src/planewise/export/onnx_trees.py",
        "right[:, place] = np.float32(0) >= threshold",
        "right[:, place] = 0",
        ("tests/export/test_onnx.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- plot
    Fault(
        "In the picture of a partition, a feature that is held at a missing value goes to the side the plane learned.",
        "src/planewise/plot/cuts.py",
        "return everything if plane.missing_right else nothing",
        "return everything",
        ("tests/plot/test_partition_display.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- evaluate
    Fault(
        "Rows of weight 0 do not count in calibration.",
        "src/planewise/evaluate/calibration.py",
        "counted = case.weight > 0",
        "counted = case.weight >= 0",
        ("tests/evaluate/test_evaluate.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- report
    Fault(
        "Text of the table is only text in a page.",
        "src/planewise/report/html.py",
        "    text = said(value)\n",
        "    text = str(value)\n",
        ("tests/report/test_report.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- table
    Fault(
        "The half width of an interval is the error of rank ceil((n + 1) * coverage).",
        "src/planewise/table/intervals.py",
        "round((self.n_rows + 1) * coverage, 9)",
        "round(self.n_rows * coverage, 9)",
        ("tests/table/test_intervals.py",),
    ),
    Fault(
        "Dates with an offset are read as moments in UTC.",
        "src/planewise/data/columns.py",
        "(moments - ahead)",
        "(moments + ahead)",
        ("tests/cli/test_text_tables.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- dask
    Fault(
        "Boosting on a cluster gives the same model for any number of partitions and workers.",
        "src/planewise/dask/engine.py",
        "return [answers[k] for k in range(len(self._futures))]",
        "return list(answers.values())",
        ("tests/dask/test_engine.py",),
    ),
    # ---------------------------------------------------------------------------------------------------- cli
    Fault(
        "An error of the user ends the command with exit code 2.",
        "src/planewise/cli/__init__.py",
        "user_errors = (ValueError, ModuleNotFoundError,",
        "user_errors = (ModuleNotFoundError,",
        ("tests/cli/test_mistakes.py",),
    ),
    Fault(
        "With --time, each fold is predicted from the rows before it only.",
        "src/planewise/cli/split.py",
        "np.flatnonzero(block < k)",
        "np.flatnonzero(block != k)",
        ("tests/cli/test_splits.py",),
    ),
)

# Found by Python at its start. It puts the copy before the installed package, in processes that tests start as well.
SITE = f"""import sys
sys.meta_path = [each for each in sys.meta_path if "planewise" not in getattr(each, "known_source_files", {{}})
                 and "planewise" not in getattr(each, "known_packages", ())]
sys.path.insert(0, {str(COPY / "src")!r})
"""


NO_FAULT = "tests that fail without a fault"
OF_THE_FAULTS = "tests/test_faults.py"  # which would catch every fault: it looks for the text that is changed


class LostPlaceError(Exception):
    """The text that a fault changes is not there once."""


def planted(fault: Fault, root: Path) -> str:
    """Return the file with the fault."""
    text = (root / fault.file).read_text(encoding="utf-8")
    if (count := text.count(fault.old)) != 1:
        raise LostPlaceError(f"{fault.sentence}\n  has lost its place: {fault.file} has {fault.old!r} {count} times.")
    changed = text.replace(fault.old, fault.new)
    if fault.file.endswith(".py"):
        compile(changed, fault.file, "exec")  # a fault that cannot be imported would be caught by any test
    return changed


def run(*command: str | Path, seconds: float | None = None) -> tuple[int, str]:
    """Run a command in the copy; return its exit code (-1: too slow) and all that it wrote."""
    environment = os.environ | {"PYTHONPATH": str(BUILD / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    with (BUILD / "output.txt").open("w+", encoding="utf-8", errors="replace") as output:
        try:
            code = subprocess.run(
                list(map(str, command)), cwd=COPY, env=environment, stdout=output, stderr=output, timeout=seconds
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
        output.seek(0)
        return code, output.read()


def copy_sources() -> None:
    """Bring the copy up to date with the tracked files; what has not changed keeps its time, and is not compiled."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    COPY.mkdir(parents=True, exist_ok=True)
    for path in [each for each in COPY.rglob("*") if each.is_file() and str(each.relative_to(COPY)) not in wanted]:
        path.unlink()
    for name in sorted(wanted):
        source, target = ROOT / name, COPY / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    (BUILD / "site").mkdir(exist_ok=True)
    (BUILD / "site" / "sitecustomize.py").write_text(SITE, encoding="utf-8")


def build(target: str) -> Path:
    """Build "_core" or "test_native" from the copy; return the file."""
    tools, folder = Path(sys.executable).parent, BUILD / target
    if not (folder / "build.ninja").exists():
        nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
        options = [f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-DPython_EXECUTABLE={sys.executable}"]
        options += [
            f"-DPLANEWISE_NATIVE_TESTS={'ON' if target == 'test_native' else 'OFF'}",
            f"-Dnanobind_DIR={nanobind}",
        ]
        options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        code, output = run(tools / "cmake", "-G", "Ninja", "-S", COPY, "-B", folder, *options)
        if code:
            sys.exit(output)
    code, output = run(tools / "cmake", "--build", folder, "--target", target)
    if code:
        sys.exit(f"{output}\nThe core does not compile.")
    return folder / target if target == "test_native" else next(folder.glob("_core.*so"))


def install(core: Path) -> None:
    """Make this the core of the copy."""
    shutil.copy(core, COPY / "src" / "planewise" / core.name)


def failed_tests(code: int, output: str) -> list[str]:
    """Return the tests of a run of pytest that failed; an error while collecting is none."""
    found = re.findall(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", output, re.M)
    return found if code in (1, 2) else []  # 2: of several processes, stopped at the first failure


def pytest(*arguments: str, seconds: float | None = None) -> tuple[int, str]:
    """Run tests of the copy."""
    return run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, seconds=seconds)


class Runner:
    """Plants faults in the copy, runs tests, and takes the faults out again."""

    def __init__(self, whole_suite: bool) -> None:
        self.whole_suite = whole_suite
        self.left_out: list[str] = []  # tests that fail in the copy without a fault
        copy_sources()
        self.cores: dict[str, Path] = {}  # without a fault
        self.build_clean("_core")
        install(self.cores["_core"])
        where = "import planewise, planewise._core; print(planewise.__file__, planewise._core.__file__, sep='\\n')"
        code, output = run(sys.executable, "-c", where)
        if code or not all(Path(each).is_relative_to(COPY) for each in output.splitlines()):
            sys.exit(f"The tests would not import the copy: {output}")

    def build_clean(self, target: str) -> None:
        """Build a target without a fault, once, and keep it beside."""
        if target not in self.cores:
            built = build(target)
            (BUILD / "clean").mkdir(exist_ok=True)
            self.cores[target] = Path(shutil.copy(built, BUILD / "clean" / built.name))

    def caught_by(self, fault: Fault) -> str:
        """Return the test that fails with the fault and not without it; empty if there is none."""
        native = fault.file.startswith("native/")
        if native and NATIVE_TESTS in self.entries(fault):
            self.build_clean("test_native")
        path = COPY / fault.file
        whole = path.read_text(encoding="utf-8")
        try:
            path.write_text(planted(fault, COPY), encoding="utf-8")
            test = self._first_failure(fault, native)
        finally:
            path.write_text(whole, encoding="utf-8")
            install(self.cores["_core"])
        if not test or test.startswith(NATIVE_TESTS):
            return test
        code, output = pytest(test, seconds=LONGEST)
        if code:
            print(f"  {test} fails without the fault as well, or cannot be run alone: {output[-1000:]}")
        return "" if code else test

    def suite(self) -> list[str]:
        """Arguments of pytest for all Python tests."""
        return ["-n", "2", "tests", f"--ignore={OF_THE_FAULTS}", *(f"--deselect={each}" for each in self.left_out)]

    def entries(self, fault: Fault) -> Sequence[str]:
        """The tests to run."""
        return (NATIVE_TESTS, "tests") if self.whole_suite else fault.tests

    def _first_failure(self, fault: Fault, native: bool) -> str:
        files = [each for each in self.entries(fault) if each != NATIVE_TESTS]
        if native and NATIVE_TESTS in self.entries(fault):
            code, output = run(build("test_native"), seconds=LONGEST)
            if code and run(self.cores["test_native"], seconds=LONGEST)[0] == 0:
                found = re.search(r"^\S+:\d+: (.*): not true|^(.*): threw", output, re.M)
                return f"{NATIVE_TESTS}: {(found[1] or found[2]) if found else 'ended early'}"
        if native and files:
            install(build("_core"))
        if self.whole_suite:
            code, output = pytest("-x", *self.suite())
        else:
            code, output = pytest("-x", *files, seconds=LONGEST) if files else (0, "")
        failed = failed_tests(code, output)
        if not failed and code != 0:
            print(f"  pytest ended with {code}: {output[-2000:]}")
        return failed[0] if failed else ""


def main() -> None:
    """Plant the faults and say which test catches each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="run the whole suite for each fault")
    parser.add_argument("--only", default="", metavar="WORD", help="only faults whose sentence contains this")
    options = parser.parse_args()
    chosen = [each for each in FAULTS if options.only.lower() in each.sentence.lower()]
    try:
        for fault in FAULTS:
            planted(fault, ROOT)
    except LostPlaceError as error:
        sys.exit(str(error))
    runner = Runner(options.all)
    kept = BUILD / "all.json"
    known: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if options.all and kept.exists() else {}
    if options.all:
        if NO_FAULT not in known:
            known[NO_FAULT] = failed_tests(*pytest(*runner.suite()))
            kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
        runner.left_out = known[NO_FAULT]
        print(f"{len(runner.left_out)} tests fail in the copy without a fault and are left out.", flush=True)
    holes = 0
    for fault in chosen:
        began = time.monotonic()
        key = f"{fault.sentence} {fault.file} {fault.new}"
        test = known[key] if key in known else runner.caught_by(fault)
        if options.all:
            known[key] = test
            kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
        holes += not test
        print(f"{fault.sentence}\n  {f'caught by {test}' if test else 'NOT CAUGHT'} ", end="")
        print(f"({fault.file}, {time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(chosen) - holes} of {len(chosen)} faults caught.")
    sys.exit(holes > 0)


if __name__ == "__main__":
    main()
