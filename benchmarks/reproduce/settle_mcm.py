"""What the experiments say about the claims of the MCM paper, each judged by a rule."""

from __future__ import annotations

import numpy as np

from .claims import Claim, Verdict, p_value
from .declaration import Settled
from .results import Results

SURE = 0.05  # a difference counts if Wilcoxon's p is below this
COMPARABLE = 1.0  # points of accuracy: a mean difference above minus this is comparable
FEWER = 3.0  # times: "3x to 10x"
MUS = ("0", "1e-06", "0.0001")
RAW = ", raw"


def differences(results: Results, ours: str, theirs: str) -> np.ndarray:
    """By data set."""
    return np.array([one.mean - other.mean for _, one, other in results.pairs(ours, theirs)])


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


# ------------------------------------------------------------------------------------------------- Tables 2, 3 and 4
def comparable_to_svm(results: Results) -> Settled:
    """The published machine within a point of the SVM on average; or only ours, with a penalty."""
    published, ours = (differences(results, name, "SVM") for name in ("MCM, published", "MCM"))
    fine = [difference.mean() >= -COMPARABLE for difference in (published, ours)]
    return Settled(
        "holds" if all(fine) else "holds in part" if any(fine) else "does not hold",
        f"Difference to a tuned RBF-SVM: published {in_words(published)}; ours {in_words(ours)}. Comparable: at least "
        f"-{COMPARABLE:g} point on average.",
    )


def conformal_gains_in_table_2(results: Results) -> Settled:
    """A sure gain of the published machines and of ours; of one of them only: in part."""
    published = differences(results, "MCM conformal, published", "MCM, published")
    signed = differences(results, "MCM conformal", "MCM")
    gains = [is_gain(published), is_gain(signed)]
    return Settled(
        "holds" if all(gains) else "holds in part" if any(gains) else "does not hold",
        f"All chosen inside training folds. Published machines (mu = 0): {in_words(published)}; with our penalty mu: "
        f"{in_words(signed)}.",
    )


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
        f"On the {len(plain)} printed means: p = {found:.2g} for the conformal machine against the plain one (printed: "
        f"3.7e-05), and p = {p_value(conformal - svm):.2g} against the SVM.",
    )


def times_fewer(results: Results, ours: str) -> np.ndarray:
    """How many times as many vectors the SVM has, by data set (one is added to each count: a machine may have none)."""
    return np.array([(svm.mean + 1) / (one.mean + 1) for _, one, svm in results.pairs(ours, "SVM")])


def _geometric(values: np.ndarray) -> float:
    return float(np.exp(np.log(values).mean()))


def _fewer(results: Results, published: str, ours: str) -> Settled:
    ratios = [times_fewer(results, name) for name in (published, ours)]
    fine = [_geometric(ratio) >= FEWER for ratio in ratios]
    said = "; ".join(
        f"{name}, {_geometric(ratio):.1f} times fewer (geometric mean; at least {FEWER:g} times on "
        f"{(ratio >= FEWER).sum()} of {len(ratio)} data sets, at most {ratio.max():.0f} times)"
        for name, ratio in zip(("published", "ours"), ratios, strict=True)
    )
    return Settled(
        "holds" if all(fine) else "holds in part" if any(fine) else "does not hold", f"Against the SVM: {said}."
    )


def fewer_vectors(results: Results) -> Settled:
    """At least three times fewer vectors than the SVM on the geometric mean, published and ours."""
    return _fewer(results, "MCM, published", "MCM")


def conformal_is_sparse(results: Results) -> Settled:
    """The same with a conformal kernel, its cores counted."""
    return _fewer(results, "conformal, published, with cores", "conformal, with cores")


def published_program_is_sparse(results: Results) -> Settled:
    """Holds where at most a third of the rows are support vectors; in part, if that is so on some of the sets."""
    shares = np.array(
        [
            results[row.title, "published, % of rows"].mean
            for row in results.table.rows
            if results[row.title, "published, % of rows"].values
        ]
    )
    sparse = shares <= 100 / 3
    dense = shares >= 90
    return Settled(
        "holds" if sparse.all() else "holds in part" if sparse.any() else "does not hold",
        f"Of the training rows, {np.median(shares):.0f} % (median) are support vectors of the published program (mu = "
        f"0): at most a third on {sparse.sum()} of {len(shares)} data sets, and 90 % or more on {dense.sum()}, where "
        "the kernel has (nearly) full rank and the labels are interpolated.",
    )


def large_scale_gains(results: Results) -> Settled:
    """The paper: improved or comparable on 12 of 14. The same share, equal or better up to 0.1 points."""
    said, fine = [], []
    for name, conformal, plain in (
        ("published", "LS Conf MCM, published", "LS MCM, published"),
        ("ours", "LS Conf MCM", "LS MCM"),
    ):
        difference = differences(results, conformal, plain)
        good = int((difference >= -0.1).sum())
        fine.append(good / len(difference) >= 12 / 14)
        said.append(f"{name}, on {good} of {len(difference)} data sets, {in_words(difference)}")
    return Settled(
        "holds" if all(fine) else "holds in part" if any(fine) else "does not hold",
        f"Better, or worse by at most 0.1 points: {'; '.join(said)}.",
    )


# ------------------------------------------------------------------------------------------- the experiment on r alone
def _titles(results: Results, raw: bool) -> list[str]:
    """The clean rows, or for each set its raw row, if it has one of its own."""
    titles = [row.title for row in results.table.rows]
    clean = [title for title in titles if not title.endswith(RAW)]
    return [title + RAW if raw and title + RAW in titles else title for title in clean]


def gains(results: Results, form: str, mu: str, chosen: str, raw: bool, against: str = "plain") -> np.ndarray:
    """By data set, the accuracy with a factor less that without, both chosen in the same way."""
    columns = [f"{each}, mu={of}{chosen}" for each, of in ((form, mu), (against, mu))]
    return np.array(
        [results[title, columns[0]].mean - results[title, columns[1]].mean for title in _titles(results, raw)]
    )


SETTINGS = tuple((mu, chosen, raw) for chosen in ("", ", on test") for raw in (False, True) for mu in MUS)


def conformal_gains(results: Results) -> Settled:
    """Holds if sure in all settings chosen inside folds; in part if sure in some of all settings."""
    found = {setting: gains(results, "signed", *setting) for setting in SETTINGS}
    sure = {setting: is_gain(gain) for setting, gain in found.items()}
    inside = [sure[setting] for setting in SETTINGS if not setting[1]]
    verdict = "holds" if all(inside) else "holds in part" if any(sure.values()) else "does not hold"
    said = []
    for chosen, words in (("", "Chosen inside folds"), (", on test", "Chosen on test folds")):
        for raw in (False, True):
            each = "; ".join(f"mu = {mu}: {in_words(found[mu, chosen, raw])}" for mu in MUS)
            said.append(f"{words}, {'raw' if raw else 'clean'} files: {each}.")
    fair = "; ".join(f"mu = {mu}: {in_words(_with_as_many_points(results, mu))}" for mu in MUS)
    said.append(f"On test folds, clean files, with as many points to choose from as without r: {fair}.")
    return Settled(verdict, " ".join(said))


def _with_as_many_points(results: Results, mu: str) -> np.ndarray:
    columns = f"signed, mu={mu}, as many points", f"plain, mu={mu}, on test"
    titles = _titles(results, raw=False)
    return np.array([results[title, columns[0]].mean - results[title, columns[1]].mean for title in titles])


def printed_equations(results: Results) -> Settled:
    """At best in part, as (15) cannot be solved as it is; not if 1/M is surely worse, or by a point on average."""
    difference = gains(results, "printed", "0", "", False, "signed")
    plain = gains(results, "printed", "0", "", False)
    worse = difference.mean() < -COMPARABLE or is_gain(-difference)
    return Settled(
        "does not hold" if worse else "holds in part",
        "The eigenvectors of (15) have a number for each row, and (17) needs one for each core, so that quadratic "
        "forms are solved instead. With 1/M as printed, mu = 0, clean files, chosen inside folds: "
        f"{in_words(difference)} against 1/M_c, and {in_words(plain)} against the plain machine.",
    )


def needs_fine_tuning(results: Results) -> Settled:
    """An average point of the grid loses more than one of the SVM's does, surely; only with r: in part."""
    titles = _titles(results, raw=False)
    lost = {
        name: np.array([results[title, f"{name}, lost"].mean for title in titles])
        for name in ("plain, mu=0", "signed, mu=0", "SVC")
    }
    more = [is_gain(lost[name] - lost["SVC"]) for name in ("plain, mu=0", "signed, mu=0")]
    said = ", ".join(f"{lost[name].mean():.1f} ({name})" for name in lost)
    return Settled(
        "holds" if all(more) else "holds in part" if any(more) else "does not hold",
        f"Points of accuracy that an average point of the grid is behind the best one, both on test folds: {said}. "
        f"Against the SVM: plain {in_words(lost['plain, mu=0'] - lost['SVC'], 'more', 'less')}, signed "
        f"{in_words(lost['signed, mu=0'] - lost['SVC'], 'more', 'less')}.",
    )


def separates(results: Results) -> Settled:
    """The scatter ratio rises on training rows and on held-out rows; on the former only: in part."""
    ratios = {
        part: np.array([results[title, f"{part} separability"].mean for title in _titles(results, raw=False)])
        for part in ("training", "held-out")
    }
    rises = [bool((np.median(ratio) > 1) and is_gain(np.log(ratio))) for ratio in ratios.values()]
    said = "; ".join(
        f"{part} rows, times {np.median(ratio):.2g} (median; higher on {(ratio > 1).sum()} of {len(ratio)})"
        for part, ratio in ratios.items()
    )
    return Settled(
        "holds" if all(rises) else "holds in part" if any(rises) else "does not hold",
        f"Scatter between the classes divided by that within them, with r relative to without (mu = 0): {said}.",
    )


def gain_of(form: str, mu: str, chosen: str, raw: bool) -> Claim:
    """One setting of the experiment on r, as a line below its table."""
    how = "on test folds" if chosen else "inside folds"
    words = f"“{form}” against “plain”, mu = {mu}, chosen {how}, {'raw' if raw else 'clean'} files"

    def claim(results: Results) -> Verdict:
        columns = [f"{each}, mu={mu}{chosen}" for each in (form, "plain")]
        if not all(results[title, column].values for title in _titles(results, raw) for column in columns):
            return Verdict(f"{words}: not all of it yet.")
        return Verdict(f"{words}: {in_words(gains(results, form, mu, chosen, raw))}.")

    return claim
