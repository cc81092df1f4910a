"""What the experiments say about the claims of the MCM paper, each judged by a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .claims import Claim, Verdict, p_value, settled_by_count, settled_by_published
from .declaration import Settled
from .results import Results

SURE = 0.05  # a difference counts if Wilcoxon's p is below this
COMPARABLE = 1.0  # points of accuracy: a mean difference above minus this is comparable
COMPARABLE_WHEN_LARGE = 0.1  # points of accuracy, in Table 4, where the paper counts what is equal or better
FEWER = 3.0  # times: "3x to 10x"
FAR_FEWER = 100.0  # times: "sometimes over a 100x smaller"
PENALISED = "lambda is penalised (ours)"
NOT_PENALISED = "lambda is not penalised (mu = 0, as published)"
OUR_ADDITION = "a9a"  # is not in the paper's Table 4
MUS = ("0", "1e-06", "0.0001")
RAW = ", raw"
FILES = {"clean": False, "raw": True}


def differences(results: Results, ours: str, theirs: str, without: str = "") -> np.ndarray:
    """By data set, all but `without`."""
    return np.array([one.mean - other.mean for title, one, other in results.pairs(ours, theirs) if title != without])


def in_words(difference: np.ndarray, above: str = "better", below: str = "worse") -> str:
    """The mean, on how many sets it is above or below zero, and p."""
    more, less = (difference > 1e-9).sum(), (difference < -1e-9).sum()
    return (
        f"{difference.mean():+.1f} points ({above} on {more}, {below} on {less} of {len(difference)}; "
        f"p = {p_value(difference):.2g})"
    )


def is_gain(difference: np.ndarray) -> bool:
    """Whether the mean is above zero and the test says so."""
    return bool(difference.mean() > 0 and p_value(difference) < SURE)


def holm(found: Mapping[Any, np.ndarray]) -> dict[Any, float]:
    """Wilcoxon's p of several differences, with Holm's correction for their number."""
    ranked = sorted(found, key=lambda key: p_value(found[key]))
    corrected, largest = {}, 0.0
    for rank, key in enumerate(ranked):
        largest = max(largest, min(1.0, p_value(found[key]) * (len(ranked) - rank)))
        corrected[key] = largest
    return corrected


def sure_gains(found: Mapping[Any, np.ndarray]) -> set[Any]:
    """Which of several means are above zero with a corrected p below `SURE`."""
    return {key for key, p in holm(found).items() if p < SURE and found[key].mean() > 0}


# ------------------------------------------------------------------------------------------------- Tables 2, 3 and 4
def comparable_to_svm(results: Results) -> Settled:
    """Within a point of the SVM on average."""
    published, ours = (differences(results, name, "SVM") for name in ("MCM, published", "MCM"))
    return settled_by_published(
        published.mean() >= -COMPARABLE,
        ours.mean() >= -COMPARABLE,
        PENALISED,
        f"Difference to a tuned RBF-SVM: published {in_words(published)}; ours {in_words(ours)}. Comparable: at least "
        f"-{COMPARABLE:g} point on average.",
    )


def conformal_gains_in_table_2(results: Results) -> Settled:
    """A sure gain over the same machine without a conformal kernel."""
    published = differences(results, "MCM conformal, published", "MCM, published")
    ours = differences(results, "MCM conformal", "MCM")
    evidence = (
        f"All chosen inside training folds. Published machines (mu = 0): {in_words(published)}; with our penalty mu: "
        f"{in_words(ours)}."
    )
    if is_gain(published) and not is_gain(ours):
        return Settled("holds when", evidence, NOT_PENALISED)
    return settled_by_published(is_gain(published), is_gain(ours), PENALISED, evidence)


def printed_test(results: Results) -> Settled:
    """The paper's p is that of its own means; within a factor of two of ours."""
    printed = results.table.printed
    means = {column: [] for column in ("MCM", "MCM conformal", "SVM")}
    for row in results.table.rows:
        for column, values in means.items():
            values.append(printed[row.title, column].mean)
    plain, conformal, svm = (np.array(values) for values in means.values())
    found = p_value(conformal - plain)
    return Settled(
        "holds" if 0.5 < found / 3.6869e-5 < 2 else "does not hold",
        f"On the {len(plain)} printed means: p = {found:.2g} for the conformal machine against the plain one, and p = "
        f"{p_value(conformal - svm):.2g} against the SVM.",
    )


def times_fewer(results: Results, ours: str, theirs: str = "SVM") -> dict[str, float]:
    """How many times as many vectors theirs has, by data set (one is added to each count: a machine may have none)."""
    return {title: (other.mean + 1) / (one.mean + 1) for title, one, other in results.pairs(ours, theirs)}


def _geometric(ratios: Mapping[str, float]) -> float:
    return float(np.exp(np.log(list(ratios.values())).mean()))


def _fewer(results: Results, published: str, ours: str) -> Settled:
    ratios = [times_fewer(results, name) for name in (published, ours)]
    said = "; ".join(
        f"{name}, {_geometric(ratio):.1f} times fewer (geometric mean; at least {FEWER:g} times on "
        f"{sum(each >= FEWER for each in ratio.values())} of {len(ratio)} data sets)"
        for name, ratio in zip(("published", "ours"), ratios, strict=True)
    )
    fine = [_geometric(ratio) >= FEWER for ratio in ratios]
    return settled_by_published(*fine, PENALISED, f"Against the SVM: {said}.")


def fewer_vectors(results: Results) -> Settled:
    """At least three times fewer vectors than the SVM on the geometric mean."""
    return _fewer(results, "MCM, published", "MCM")


def conformal_is_sparse(results: Results) -> Settled:
    """The same with a conformal kernel, its cores counted."""
    return _fewer(results, "conformal, published, with cores", "conformal, with cores")


def sometimes_far_fewer(results: Results) -> Settled:
    """On at least one data set whose machines all have a support vector: without any, they predict a single class."""
    said, fine = [], []
    for name, column in (("published", "MCM, published"), ("ours", "MCM")):
        ratios = {
            title: svm.mean / one.mean for title, one, svm in results.pairs(column, "SVM") if min(one.values) >= 1
        }
        title, largest = max(ratios.items(), key=lambda item: item[1], default=("no data set", 0.0))
        fine.append(largest > FAR_FEWER)
        said.append(f"{name}, {largest:.0f} times ({title}, the most of {len(ratios)})")
    evidence = f"Fewer than the SVM, on data sets where all machines have at least one: {'; '.join(said)}."
    return settled_by_published(*fine, PENALISED, evidence)


SPARSER = {  # (conformal, plain): when; the first that is sure decides
    ("conformal, published, with cores", "MCM, published"): "",
    ("conformal, published", "MCM, published"): "cores are not counted",
    ("conformal, with cores", "MCM"): PENALISED,
    ("MCM conformal", "MCM"): f"{PENALISED} and cores are not counted",
}


def conformal_is_sparser(results: Results) -> Settled:
    """Surely fewer vectors than without a conformal kernel, the cores counted."""
    ratios = {columns: times_fewer(results, *columns) for columns in SPARSER}
    sure = sure_gains({columns: np.log(list(ratio.values())) for columns, ratio in ratios.items()})
    words = [
        f"{1 / _geometric(ratio):.2g} (fewer on {sum(each > 1 for each in ratio.values())} of {len(ratio)})"
        for ratio in ratios.values()
    ]
    evidence = (
        "Support vectors with a conformal kernel relative to without (geometric mean): published, "
        f"{words[0]} with cores and {words[1]} without them; ours, {words[2]} and {words[3]}."
    )
    when = next((SPARSER[columns] for columns in SPARSER if columns in sure), None)
    if when is None:
        return Settled("does not hold", evidence)
    return Settled("holds when", evidence, when) if when else Settled("holds", evidence)


def published_program_is_sparse(results: Results) -> Settled:
    """Sparse: at most a third of the rows are support vectors."""
    column = "published, % of rows"
    shares = np.array([entry.mean for _, entry, _ in results.pairs(column, column)])
    sparse, dense = shares <= 100 / 3, shares >= 90
    return settled_by_count(
        int(sparse.sum()),
        len(shares),
        f"Of the training rows, {np.median(shares):.0f}% (median) are support vectors of the published program (mu = "
        f"0): at most a third on {sparse.sum()} of {len(shares)} data sets, and 90% or more on {dense.sum()}.",
    )


def large_scale_gains(results: Results) -> Settled:
    """The paper: improved or comparable on 12 of 14. The same share of the sets that it has and we have."""
    machines = {"published": ("LS Conf MCM, published", "LS MCM, published"), "ours": ("LS Conf MCM", "LS MCM")}
    said, fine = [], []
    for name, columns in machines.items():
        difference = differences(results, *columns, without=OUR_ADDITION)
        good = int((difference >= -COMPARABLE_WHEN_LARGE).sum())
        fine.append(good / len(difference) >= 12 / 14)
        said.append(f"{name}, on {good} of {len(difference)} data sets ({difference.mean():+.2f} points on average)")
    seeds = [len(one.values) for title, one, _ in results.pairs(*machines["published"]) if title != OUR_ADDITION]
    return settled_by_published(
        *fine,
        "our large-scale machine is used",
        f"Better, or worse by at most {COMPARABLE_WHEN_LARGE} points: {'; '.join(said)}. Three of the paper's 14 data "
        f"sets are not available, and {seeds.count(1)} of the others have a single split, as in the paper.",
    )


# ------------------------------------------------------------------------------------------- the experiment on r alone
AS_MANY = ", as many points"  # chosen on test folds among as many points as without r
HOW = {"": "inside folds", ", on test": "on test folds", AS_MANY: "on test folds among as many points"}


def _titles(results: Results, raw: bool) -> list[str]:
    """The clean rows, or for each set its raw row, if it has one of its own."""
    titles = [row.title for row in results.table.rows]
    clean = [title for title in titles if not title.endswith(RAW)]
    return [title + RAW if raw and title + RAW in titles else title for title in clean]


def _columns(form: str, mu: str, chosen: str, against: str = "plain") -> tuple[str, str]:
    return f"{form}, mu={mu}{chosen}", f"{against}, mu={mu}{', on test' if chosen == AS_MANY else chosen}"


def gains(results: Results, form: str, mu: str, chosen: str, raw: bool, against: str = "plain") -> np.ndarray:
    """By data set, the accuracy with a factor less that without, both chosen in the same way."""
    ours, theirs = _columns(form, mu, chosen, against)
    return np.array([results[title, ours].mean - results[title, theirs].mean for title in _titles(results, raw)])


SETTINGS = tuple((mu, chosen, raw) for chosen in ("", AS_MANY) for raw in (False, True) for mu in MUS)
PUBLISHED = ("0", "", False)


def conformal_gains(results: Results) -> Settled:
    """Holds if sure with every penalty, chosen inside folds of clean files; else when it is sure."""
    found = {setting: gains(results, "signed", *setting) for setting in SETTINGS}
    sure = sure_gains(found)
    said = [
        f"{words}, "
        + " and ".join(f"{_list(found[mu, chosen, raw] for mu in MUS)} ({name} files)" for name, raw in FILES.items())
        for chosen, words in (("", "chosen inside training folds"), (AS_MANY, "on test folds among as many points"))
    ]
    evidence = (
        f"Mean gain in points with mu = {', '.join(MUS)}: {'; '.join(said)}. The published machine inside folds: p = "
        f"{p_value(found[PUBLISHED]):.2g}; smallest p of the {len(found)} after Holm's correction: "
        f"{min(holm(found).values()):.2g}."
    )
    everywhere = all((mu, "", False) in sure for mu in MUS)
    return settled_by_published(everywhere, bool(sure), "; or ".join(_settings_in_words(sure)), evidence)


def _settings_in_words(settings: set[tuple[str, str, bool]]) -> list[str]:
    """Those that differ in mu only are put together."""
    found = []
    for chosen in ("", AS_MANY):
        for name, raw in FILES.items():
            mus = [mu for mu in MUS if (mu, chosen, raw) in settings]
            if mus:
                found.append(f"mu is {' or '.join(mus)} ({name} files, chosen {HOW[chosen]})")
    return found


def _list(differences: Iterable[np.ndarray]) -> str:
    return ", ".join(f"{each.mean():+.1f}" for each in differences)


def printed_equations(results: Results) -> Settled:
    """Not if 1/M is surely worse than 1/M_c, or worse by a point on average."""
    difference = gains(results, "printed", "0", "", False, "signed")
    plain = gains(results, "printed", "0", "", False)
    worse = difference.mean() < -COMPARABLE or is_gain(-difference)
    return Settled(
        "does not hold" if worse else "holds",
        f"With mu = 0, clean files, chosen inside folds: 1/M is {in_words(difference)} against 1/M_c, and "
        f"{in_words(plain)} against the plain machine.",
    )


def needs_fine_tuning(results: Results) -> Settled:
    """An average point of the grid is surely further behind the best one than in the SVM's grid."""
    titles = _titles(results, raw=False)
    lost = {
        name: np.array([results[title, f"{name}, lost"].mean for title in titles])
        for name in ("plain, mu=0", "signed, mu=0", "SVC")
    }
    more = {name: lost[name] - lost["SVC"] for name in ("plain, mu=0", "signed, mu=0")}
    sure = sure_gains(more)
    evidence = (
        "Points of accuracy that an average point of the grid is behind the best one, both on test folds, with equally "
        f"wide grids: {', '.join(f'{each.mean():.1f} ({name})' for name, each in lost.items())}. Against the SVC: "
        + ", ".join(f"{name.split(',')[0]} {in_words(each, 'more', 'less')}" for name, each in more.items())
        + "."
    )
    if len(sure) == 1:
        return Settled("holds when", evidence, f"{'no' if 'plain, mu=0' in sure else 'a'} conformal kernel is used")
    return Settled("holds" if sure else "does not hold", evidence)


def separates(results: Results) -> Settled:
    """The scatter ratio rises on training rows and on held-out rows."""
    ratios = {
        part: np.array([results[title, f"{part} separability"].mean for title in _titles(results, raw=False)])
        for part in ("training", "held-out")
    }
    rises = [part for part, ratio in ratios.items() if np.median(ratio) > 1 and is_gain(np.log(ratio))]
    said = "; ".join(
        f"{part} rows, times {np.median(ratio):.2g} (median; higher on {(ratio > 1).sum()} of {len(ratio)})"
        for part, ratio in ratios.items()
    )
    evidence = f"Scatter between the classes divided by that within them, with r relative to without (mu = 0): {said}."
    if len(rises) == 1:
        return Settled("holds when", evidence, f"it is measured on {rises[0]} rows")
    return Settled("holds" if rises else "does not hold", evidence)


def gain_of(form: str, mu: str, chosen: str, raw: bool) -> Claim:
    """One setting of the experiment on r, as a line below its table."""
    words = f"“{form}” against “plain”, mu = {mu}, chosen {HOW[chosen]}, {'raw' if raw else 'clean'} files"

    def claim(results: Results) -> Verdict:
        columns = _columns(form, mu, chosen)
        if not all(results[title, column].values for title in _titles(results, raw) for column in columns):
            return Verdict(f"{words}: not all of it yet.")
        return Verdict(f"{words}: {in_words(gains(results, form, mu, chosen, raw))}.")

    return claim
