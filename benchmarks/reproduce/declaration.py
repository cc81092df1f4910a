"""What a table consists of. Nothing here runs anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

Metrics = dict[str, float]


@dataclass(frozen=True)
class Data:
    """A data set as a paper used it, repaired.

    Attributes
    ----------
    source : tuple
        ("load", name, variant) for a loader's set; else the name of a generator of `benchmarks.data`, its arguments
        and, in a dict, its keywords.
    classes : tuple
        The classes the paper kept, where a set has more.
    left_out : tuple of str
        Columns that are identifiers or give the target away.
    raw : bool
        As the authors' file has it, as far as we know: nothing is left out, and text is numbered, not one-hot.
    row_number : bool
        With the row number among the features, of a file that is sorted by class.
    """

    name: str
    source: tuple[Any, ...]
    task: str = "classification"
    classes: tuple[Any, ...] = ()
    left_out: tuple[str, ...] = ()
    raw: bool = False
    row_number: bool = False


@dataclass(frozen=True)
class Method:
    """An estimator, what is fixed and what is searched.

    Attributes
    ----------
    classifier, regressor : str
        Where the class is: "package.module.Class".
    fixed, fixed_for_classes : mapping
        Parameters all fits share, and those of the classifier alone.
    grid : mapping
        Parameter: values, all combinations of which are tried on folds of the training part.
    searches_itself : bool
        The estimator has a search of its own, and `grid` goes to its constructor.
    repeats : int
        How often the folds that choose are drawn.
    scaled : bool
        Whether rows (and real targets) are standardised for it.
    size : str
        Which function of sizes.py counts its parameters.
    package : str
        What must be installed for it, if its class does not say so.
    """

    name: str
    classifier: str = ""
    regressor: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    fixed_for_classes: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    searches_itself: bool = False
    repeats: int = field(default=1, repr=False)  # unseen in a duel's fingerprint, which has its methods as text
    scaled: bool = False
    seeded: bool = True
    size: str = ""
    package: str = ""

    @property
    def needs(self) -> set[str]:
        """The packages it comes from."""
        if self.package:
            return {self.package}
        return {path.split(".")[0] for path in (self.classifier, self.regressor) if path}


class CellProtocol(Protocol):
    """How one cell is run."""

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """The figures of one data set, method and seed."""
        ...


@dataclass(frozen=True)
class Experiment:
    """Cells that tables share: every data set with every method, over seeds.

    Attributes
    ----------
    seeds, quick_seeds : int
        How many splits or folds, and how many with ``--quick``.
    fewer_seeds : mapping
        Data set or method: how many at most, for the slow ones.
    not_run : mapping
        (data set, method): why it is not run at all.
    """

    name: str
    protocol: CellProtocol
    data: tuple[Data, ...]
    methods: tuple[Method, ...]
    seeds: int
    quick_seeds: int
    fewer_seeds: Mapping[str, int] = field(default_factory=dict)
    not_run: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def n_seeds(self, data: str, method: str, quick: bool) -> int:
        """How many seeds a cell gets."""
        if (data, method) in self.not_run:
            return 0
        wanted = self.quick_seeds if quick else self.seeds
        return min(wanted, *(self.fewer_seeds.get(name, wanted) for name in (data, method)))

    def fingerprint(self, data: Data, method: Method) -> str:
        """Changes when anything is declared differently, so that no old figure passes for a new one."""
        said = [type(self.protocol).__name__, _said(self.protocol), _said(data), _said(method)]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _said(declaration: Any) -> dict[str, Any]:
    """What is declared, defaults left out: a field added later changes no fingerprint."""
    plain = [each for each in fields(declaration) if each.default is not MISSING or each.default_factory is not MISSING]
    defaults = {each.name: each.default if each.default is not MISSING else each.default_factory() for each in plain}
    return {name: value for name, value in vars(declaration).items() if defaults.get(name, MISSING) != value}


@dataclass(frozen=True)
class Edge:
    """A row's or a column's part in what its cells show; the parts of both are put together."""

    title: str
    data: str = ""
    method: str = ""
    metric: str = ""
    digits: int | None = None
    not_run: str = ""  # why there is nothing of ours: quoted by the paper too, or not to be had


@dataclass(frozen=True)
class Figure:
    """What a paper printed in a cell."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Why:
    """What is behind a claim that was missed, and the figures it was written for: when these differ, it is not said.

    Attributes
    ----------
    claims : tuple of str
        Parts of the claims' sentences, all of which must be there.
    figures : mapping
        (row title, column title): our mean as the table shows it.
    """

    text: str
    claims: tuple[str, ...] = ()
    figures: Mapping[tuple[str, str], str] = field(default_factory=dict)


VERDICTS = ("holds", "holds when", "holds in part", "does not hold", "not yet run")


@dataclass(frozen=True)
class Settled:
    """What an experiment says about a claim.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`: "holds when" it is true under a condition, "holds in part" if it is true in more than half of
        several comparisons.
    evidence : str
        The figures behind it, in one or two sentences.
    when : str
        The condition of "holds when", such as "mu is above 0".
    """

    verdict: str
    evidence: str
    when: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is not one of {', '.join(VERDICTS)}.")
        if bool(self.when) != (self.verdict == "holds when"):
            raise ValueError("A condition goes with 'holds when', and with nothing else.")

    @property
    def words(self) -> str:
        """The verdict with its condition."""
        return f"{self.verdict} {self.when}".strip()


NOT_YET_RUN = Settled("not yet run", "Not all of its cells are finished.")


@dataclass(frozen=True)
class PaperClaim:
    """A sentence of a paper that an experiment can settle.

    Attributes
    ----------
    where : str
        The paper and the place in it: "SLM, Section IV".
    claim : str
        The claim, in our words, as one sentence.
    settle : callable
        Takes the finished results of the table it belongs to, and judges by a rule, not by a remembered outcome.
    """

    where: str
    claim: str
    settle: Callable[[Any], Settled]


@dataclass(frozen=True)
class Table:
    """A table (or the figures behind a picture) of a paper.

    Attributes
    ----------
    printed : mapping
        (row title, column title): what the paper says.
    doubts : mapping
        (row title, column title): why the printed figure cannot be right; "" stands for any row or column.
    claims : tuple of callables
        Each takes the results and says one sentence, and whether it is what was meant.
    why : tuple of Why
        What is behind claims that were missed.
    paper_claims : tuple of PaperClaim
        What the paper claims, and this table's experiment settles: lines of the page's first table.
    picture : callable
        Draws the results into a file: ``picture(results, path, data_home)``. A figure of a paper that has no numbers is
        a table without rows.
    picture_file : str
        What the file is called, if not after the table.
    """

    name: str
    title: str
    experiment: Experiment
    rows: tuple[Edge, ...]
    columns: tuple[Edge, ...]
    printed: Mapping[tuple[str, str], Figure] = field(default_factory=dict)
    doubts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    claims: tuple[Callable[[Any], Any], ...] = ()
    why: tuple[Why, ...] = ()
    paper_claims: tuple[PaperClaim, ...] = ()
    picture: Callable[[Any, Path, str | None], None] | None = None
    picture_file: str = ""
    digits: int = 2

    def cell(self, row: Edge, column: Edge) -> tuple[str, str, str]:
        """Data set, method and metric of a cell."""
        return row.data + column.data, row.method or column.method, row.metric or column.metric

    def doubt(self, row: Edge, column: Edge) -> str:
        """Why the printed figure cannot be right, or nothing."""
        keys = [(row.title, column.title), (row.title, ""), ("", column.title)]
        return next((self.doubts[key] for key in keys if key in self.doubts), "")


def printed_figures(text: str, columns: list[str], *, separator: str = "|") -> dict[tuple[str, str], Figure]:
    """Reads ``row | 88.25 | 71.4 ± 3.2 | - |`` lines, a figure for each of `columns`."""
    found = {}
    for line in text.strip().splitlines():
        row, *figures = (part.strip() for part in line.strip().strip(separator).split(separator))
        if len(figures) != len(columns):
            raise ValueError(f"{row!r} has {len(figures)} figures, not {len(columns)}.")
        for column, figure in zip(columns, figures, strict=True):
            if figure != "-":
                mean, _, std = figure.partition("±")
                found[row, column] = Figure(float(mean), float(std) if std else None)
    return found
