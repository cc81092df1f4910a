"""The tables of docs/benchmarks.md, written from the files of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .data import listed
from .families import FAMILIES, Family
from .summary import Entry, peers_of, ratio, summarise

RESULTS = Path(__file__).resolve().parents[1] / "results"
IN_WORDS = {
    "report": "report sets",
    "develop": "development sets",
    "mixed": "tables with categories",
    "numeric": "numeric tables",
    "small": "small tables",
}
# Ratios of losses that we set ourselves before the first run on the report sets.
BOOST_TARGETS = {"xgboost": 0.90, "lightgbm": 0.90, "ydf": 0.97, "best peer": 1.00}
BEST = "best of the others"


class Results:
    """What a file of results says about one family."""

    def __init__(self, path: Path, *families: str) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        family = next((FAMILIES[name] for name in families if FAMILIES[name].key in content), None)
        if family is None:
            raise ValueError(f"'{path}' has no results of {' or '.join(families)}, only of {', '.join(content)}.")
        self.family = family
        self.entries: list[Entry] = content[family.key]["table"]
        self.summary = summarise(family, self.entries)
        self.peers = peers_of(family, self.entries)

    @property
    def list_name(self) -> str:
        """Which list of sets.csv these data sets are from."""
        first = self.entries[0]["name"]
        return next((name for name, sets in listed(self.family.kind).items() if first in sets), "other")

    @property
    def in_words(self) -> str:
        return f"{len(self.entries)} {IN_WORDS.get(self.list_name, 'other sets')}"

    def label(self, name: str) -> str:
        return BEST if name == "best peer" else self.family.contenders[name].label

    def mean(self, peer: str, key: str, digits: int) -> str:
        """A geometric mean of the summary; empty if it was not measured."""
        return _fixed(self.summary.get(f"{peer}: {key}"), digits)


def _fixed(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = ["|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])


def _size(entry: Entry) -> str:
    return f"{entry['rows']} × {entry['features']}"


def _value(entry: Entry, name: str, key: str, form: str) -> str:
    contenders = entry["contenders"]
    return format(contenders[name][key], form) if name in contenders else "failed"


def _ratio(entry: Entry, family: Family, peer: str, key: str) -> str:
    both = {family.ours, peer} <= entry["contenders"].keys()
    return _fixed(ratio(entry, family.ours, peer, key), 2) if both else "–"


def tree_tables(*files: Results) -> list[str]:
    measures = ("loss", "parameters", "fit", "predict", "bytes")
    means = [[each.in_words, *(each.mean("decisiontree", key, 2) for key in measures)] for each in files]
    first = files[0]
    rows = [
        [
            entry["name"],
            _size(entry),
            *(_value(entry, name, "loss", ".4g") for name in first.family.contenders),
            *(_value(entry, name, "parameters", ".0f") for name in first.family.contenders),
            *(_ratio(entry, first.family, "decisiontree", key) for key in ("fit", "predict")),
        ]
        for entry in first.entries
    ]
    columns = ["data", "size", "loss", "decision tree", "parameters", "decision tree"]
    return [
        markdown(["", "loss", "parameters", "fit time", "predict time", "pickle size"], means),
        markdown([*columns, "fit time, ratio", "predict time, ratio"], rows),
    ]


def boost_tables(*files: Results) -> list[str]:
    report = files[0]
    compared = [*report.peers, "best peer"]
    measures = {"loss, clipped": "loss", "fit time": "fit", "predict time": "predict", "size": "bytes"}
    means = [[name, *(report.mean(peer, key, 3) for peer in compared)] for name, key in measures.items()]
    targets = [
        [report.label(peer), f"{target:.2f}", f"{reached:.3f}", "Met." if reached <= target else "Not met."]
        for peer, target in BOOST_TARGETS.items()
        if (reached := report.summary.get(f"{peer}: loss")) is not None
    ]
    return [
        _losses_of_boosting([report], with_size=True),
        markdown(["", *map(report.label, compared)], means),
        markdown(["compared with", "our target for the loss, set beforehand", "reached", ""], targets),
    ]


def field_tables(*files: Results) -> list[str]:
    compared = [*files[0].peers, "best peer"]
    means = []
    for each in files:
        for name, key in {f"{each.in_words}: loss": "loss", "fit time": "fit", "predict time": "predict"}.items():
            means.append([name, *(each.mean(peer, key, 3) for peer in compared)])
    return [_losses_of_boosting(files, with_size=False), markdown(["", *map(files[0].label, compared)], means)]


def _losses_of_boosting(files: Sequence[Results], *, with_size: bool) -> str:
    family = files[0].family
    names = [name for name in family.contenders if any(name in each.peers for each in files) or family.is_ours(name)]
    rows = [
        [
            entry["name"],
            *([_size(entry)] if with_size else []),
            *(_value(entry, name, "loss", ".4g") for name in names),
            _ratio(entry, family, "lightgbm", "fit"),
        ]
        for each in files
        for entry in each.entries
    ]
    labels = [family.contenders[name].label for name in names]
    return markdown(["data", *(["size"] if with_size else []), *labels, "fit / LightGBM"], rows)


def forest_tables(*files: Results) -> list[str]:
    report = files[0]
    names = [name for name in report.family.contenders if name in report.peers or report.family.is_ours(name)]
    rows = [
        [
            entry["name"],
            *(_value(entry, name, "loss", ".4g") for name in names),
            *(_ratio(entry, report.family, "randomforest", key) for key in ("fit", "bytes")),
        ]
        for entry in report.entries
    ]
    means = [
        [
            f"20 trees / {report.label(peer)}",
            *(report.mean(peer, key, 2) for key in ("loss", "fit", "predict", "bytes")),
        ]
        for peer in report.peers
    ]
    means.insert(1, ["100 trees / random forest", report.mean("100 trees each", "loss", 2), "", "", ""])
    return [
        markdown(["data", *map(report.label, names), "fit time", "size"], rows),
        markdown(["planewise / other forest of 100 trees", "loss", "fit time", "predict time", "size"], means),
    ]


def machine_tables(*files: Results) -> list[str]:
    tables = [_machines(each) for each in files]
    means = [
        [
            each.in_words,
            f"{each.summary['svc: accuracy_points']:+.2f} points".replace("-", "−"),
            each.mean("svc", "vectors", 3),
            each.mean("svc", "fit", 2),
            each.mean("svc", "worst fit", 1),
        ]
        for each in files
    ]
    return [*tables, markdown(["sets", "accuracy", "vectors", "fit time", "longest fit"], means)]


def _machines(results: Results) -> str:
    names = list(results.family.contenders)
    rows = [
        [
            entry["name"],
            _size(entry),
            *(_value(entry, name, "loss", ".4f") for name in names),
            *(_value(entry, name, "vectors", ".0f") for name in names),
            _ratio(entry, results.family, "svc", "fit"),
        ]
        for entry in results.entries
    ]
    which = {"report": "report data", "develop": "development data"}.get(results.list_name, "small tables")
    return markdown([which, "size", "error", "error, SVC", "vectors", "vectors, SVC", "fit / SVC"], rows)


# For each section of the page: which results it shows, and who writes its tables.
SECTIONS: dict[str, tuple[dict[str, str], Callable[..., list[str]]]] = {
    "tree": ({"duel_tree_report.json": "tree", "duel_tree_develop.json": "tree"}, tree_tables),
    "boost": ({"duel_boost_report.json": "boost"}, boost_tables),
    "field": ({"field_mixed.json": "field", "field_numeric.json": "field"}, field_tables),
    "forest": ({"duel_forest_report.json": "forest"}, forest_tables),
    "machines": (
        {"duel_svm_report.json": "svm", "duel_svm_develop.json": "svm", "field_machines_small.json": "machines"},
        machine_tables,
    ),
}


def tables(section: str, paths: Sequence[Path] = ()) -> list[str]:
    """The tables of a section, from the given files or from those in benchmarks/results."""
    files, write = SECTIONS[section]
    families = dict.fromkeys(files.values())
    return write(*(Results(path, *families) for path in paths or [RESULTS / name for name in files]))
