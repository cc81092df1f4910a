"""What the RECIP paper claims, each judged by a rule from the figures of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .declaration import PaperClaim, Settled
from .results import Results

NEARLY_PERFECT = 0.99
FEW, MANY = (1, 2, 3, 4), (5, 6, 7)  # batches
LARGEST_PRINTED_GAP = 5.0  # points that RECIP is below KNN in Table 3 (MiniBOONE)
PRINTED_SPAM = 76.8  # Table 3


def _means(results: Results, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    return np.array([[results[row, column].mean for column in columns] for row in rows])


def _columns(results: Results) -> list[str]:
    return [column.title for column in results.table.columns]


def _in_part(printed: bool, main: bool) -> str:
    """A claim that may hold by the printed rule, or only for the main views."""
    return "holds" if printed else "holds in part" if main else "does not hold"


def _list(values: Sequence[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


# ------------------------------------------------------------------ Tables 1 and 2
def _precision(results: Results) -> Settled:
    columns = _columns(results)
    means = {
        block: _means(results, [f"{block}, q={q}" for q in (*FEW, *MANY)], columns).mean()
        for block in ("precision", "precision, main views")
    }
    printed, main = means.values()
    return Settled(
        _in_part(printed >= NEARLY_PERFECT, main >= NEARLY_PERFECT),
        f"Mean precision over {7 * len(columns)} settings: {printed:.2f} if every view is kept that any row uses, as "
        f"Algorithm 1 is printed and solved exactly; {main:.3f} if a view must be the largest part of a row for more "
        "than 1 % of the rows (“main views”).",
    )


def _recall(results: Results) -> Settled:
    columns, groups = _columns(results), (FEW, (5,), (6,), (7,))

    def by_group(block: str) -> list[float]:
        return [float(_means(results, [f"{block}, q={q}" for q in qs], columns).mean()) for qs in groups]

    used, main = by_group("recall"), by_group("recall, main views")
    printed = [
        np.mean([results.table.printed[f"recall, q={q}", col].mean for q in qs for col in columns]) for qs in groups
    ]
    falls = [recall[0] >= 0.95 and recall[-1] <= 0.75 for recall in (used, main)]
    return Settled(
        _in_part(*falls),
        f"Mean recall for up to four batches and for 5, 6 and 7: {_list(main)} for the main views, {_list(used)} for "
        f"all views that any row uses; printed: {_list(printed)}.",
    )


def _accuracy_falls(results: Results) -> Settled:
    columns = _columns(results)
    rules = {}
    for block in ("RECIP", "main views", "known"):
        means = _means(results, [f"{block}, q={q}" for q in (*FEW, *MANY)], columns)
        rules[block] = means, bool((means[0] > means[-1]).all()), bool((means[:, 0] > means[:, -1]).all())
    right = [first and second for _, first, second in rules.values()]
    said = "; ".join(
        f"{block}: {means[0].mean():.3f} for one batch and {means[-1].mean():.3f} for seven, {means[:, 0].mean():.3f} "
        f"without noise and {means[:, -1].mean():.3f} with 0.2"
        for block, (means, _, _) in rules.items()
    )
    return Settled(
        "holds" if all(right) else "holds in part" if any(right) else "does not hold", f"Mean accuracy. {said}."
    )


TABLE_1_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.1",
        "Precision is nearly perfect: two mistakes in all experiments, with much noise.",
        _precision,
    ),
    PaperClaim(
        "RECIP, Section 3.1",
        "Recall is nearly perfect while the batches' features hardly overlap, and falls to 3 or 4 of 7 views.",
        _recall,
    ),
)
TABLE_2_CLAIMS = (
    PaperClaim("RECIP, Section 3.2", "Accuracy falls with noise and with the number of batches.", _accuracy_falls),
)


# ------------------------------------------------------------------ lam and alpha
def _fall_by_lam(results: Results) -> Settled:
    few, seven = ["recall, q=3", "recall, q=4"], "recall, q=7"
    rows = [row.title for row in results.table.rows]
    all_found = [
        row for row in rows if results[row, seven].mean >= 0.95 and results[row, "precision, q=7"].mean >= 0.95
    ]
    fall = [row for row in rows if _means(results, [row], few).min() >= 0.95 and results[row, seven].mean <= 0.75]
    verdict = "does not hold" if not fall else "holds in part" if all_found else "holds"
    return Settled(
        verdict,
        "Main views. All seven batches' views are found (recall and precision of at least 0.95) at "
        f"{len(all_found)} of {len(rows)} settings: {'; '.join(all_found) or 'none'}. Recall is at least 0.95 for "
        f"three and four batches and at most 0.75 for seven at {len(fall)}: {'; '.join(fall) or 'none'}.",
    )


def _alpha(results: Results) -> Settled:
    best = {}
    for row in results.table.rows:
        alpha = row.title.partition(",")[0]
        entries = [results[row.title, column] for column in _columns(results) if column.startswith("recall")]
        error = float(np.sqrt(np.mean([entry.difference**2 for entry in entries])))
        best[alpha] = min(best.get(alpha, (np.inf, "")), (error, row.title))
    said = "; ".join(f"{title}: {error:.2f}" for error, title in best.values())
    nearest = min(best, key=lambda alpha: best[alpha])
    return Settled(
        "holds" if nearest != "alpha = 0.5" else "holds in part",
        "Alpha changes neither a row's best view nor the answer to a query (eq. 9), only what lam means. Root mean "
        f"square difference to the printed recall at the best lam of each alpha: {said}. Nearest: {nearest}.",
    )


LAM_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.1", "With many batches, overlapping features hide about half of the views.", _fall_by_lam
    ),
    PaperClaim("RECIP, Section 3", "Alpha is a value close to 1.", _alpha),
)


# ------------------------------------------------------------------ lasso
def _lasso_finds_one(results: Results) -> Settled:
    lassos = [row.title for row in results.table.rows if row.title.startswith("lasso, 0")]
    columns = [column for column in _columns(results) if column.startswith("found")]
    means = _means(results, lassos, columns)
    kept = _means(results, lassos, [column.replace("found", "kept") for column in columns])
    first = _means(results, ["lasso, one view"], columns)
    one = ((means > 0.5) & (means < 1.5)).all(axis=1)  # at a penalty, for any number of batches
    said = "; ".join(
        f"{title.partition(', ')[2]}: {_list(found, 1)} of {_list(all_kept, 0)} kept"
        for title, found, all_kept in zip(lassos, means, kept, strict=True)
    )
    return Settled(
        "holds" if one.all() else "holds in part" if one.any() else "does not hold",
        f"Informative views found for 3, 5 and 7 batches, by penalty as a share of the largest: {said}. Exactly "
        f"one is found, for any number of batches, at {one.sum()} of {len(lassos)} penalties. If only the view of the "
        f"largest coefficient is kept (0.9), it is informative in {100 * first.mean():.0f} % of the draws.",
    )


def _lasso_below(results: Results) -> Settled:
    columns = [column for column in _columns(results) if column.startswith("accuracy")]
    best = {}
    for kind in ("lasso", "robust lasso", "RECIP, main views"):
        rows = [row.title for row in results.table.rows if row.title.startswith(kind)]
        best[kind] = _means(results, rows, columns).max(axis=0)
    plain, robust, recip = best.values()
    better, below = robust >= plain, robust <= recip
    return Settled(
        "holds" if (better & below).all() else "holds in part" if (better & below).any() else "does not hold",
        f"Accuracy for 3, 5 and 7 batches at the best penalty of each: lasso {_list(plain, 3)}; robust lasso "
        f"{_list(robust, 3)}; RECIP's main views {_list(recip, 3)}.",
    )


LASSO_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.1", "The lasso recovers only one informative view, whatever its penalty.", _lasso_finds_one
    ),
    PaperClaim(
        "RECIP, Section 2.4", "The robust lasso is better than the lasso, but does not match RECIP.", _lasso_below
    ),
)


# ------------------------------------------------------------------ selection, voting and nearest neighbours
def _selection_beats_voting(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows if not row.title.startswith("q=1,")]  # one view: both are the same
    said, right = [], []
    for selection, voting in (
        ("RECIP", "voting"),
        ("RECIP, main views", "voting, main views"),
        ("known", "voting, known"),
    ):
        gain = _means(results, rows, [selection])[:, 0] - _means(results, rows, [voting])[:, 0]
        right.append((gain > 0).sum())
        said.append(f"{selection}: better in {right[-1]} of {len(rows)}, by {gain.mean():.3f} on average")
    total = len(right) * len(rows)
    verdict = "holds" if sum(right) == total else "holds in part" if sum(right) > total / 2 else "does not hold"
    return Settled(verdict, f"Settings with two or more batches. {'; '.join(said)}.")


def _neighbours(results: Results) -> Settled:
    rows = {q: [row.title for row in results.table.rows if row.title.startswith(f"q={q},")] for q in (*FEW, *MANY)}
    neighbours, recip, printed = (
        np.array([_means(results, rows[q], [column]).mean() for q in rows])
        for column in ("KNN", "RECIP, main views", "RECIP")
    )
    worse, rises, crosses = (neighbours < recip)[:3].all(), neighbours[-1] > neighbours[0], neighbours[-1] > recip[-1]
    return Settled(
        "holds" if worse and rises else "holds in part" if worse or rises else "does not hold",
        f"Accuracy of KNN for 1 to 7 batches: {_list(neighbours)}; of RECIP's main views: {_list(recip)}; of all views "
        f"that any row uses: {_list(printed)}. "
        + ("With seven batches, KNN is ahead of RECIP." if crosses else "With seven batches, RECIP is still ahead."),
    )


COMPARED_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.2",
        "Choosing one view per query is more accurate than voting, with found and with known views.",
        _selection_beats_voting,
    ),
    PaperClaim(
        "RECIP, Section 3.2",
        "KNN on all features is worse than RECIP with few batches, and improves with more.",
        _neighbours,
    ),
)


# ------------------------------------------------------------------ known projections
def _known_votes(results: Results) -> Settled:
    """Which way of counting is nearest to the printed means and standard deviations, for three batches or more."""
    rows = [f"q={q}" for q in range(3, 8)]
    fits = {}
    for column in _columns(results):
        entries = [results[row, column] for row in rows]
        off = np.array([entry.difference for entry in entries])
        spread = np.mean([entry.std for entry in entries]) / np.mean([entry.printed.std for entry in entries])
        fits[column] = off.mean(), spread, np.abs(off).mean()
    best = min(fits, key=lambda column: fits[column][2])
    said = "; ".join(f"{column}: {off:+.3f}, {spread:.1f} times" for column, (off, spread, _) in fits.items())
    variance = [
        entry.std**2 / len(entry.values) + entry.printed.std**2 / 7 for entry in (results[row, best] for row in rows)
    ]
    error = float(np.sqrt(np.sum(variance))) / len(rows)
    return Settled(
        "holds" if abs(fits[best][0]) <= 2 * error else "does not hold",
        "Mean difference to the printed figures for 3 to 7 batches, and our standard deviation relative to the printed "
        f"one. {said}. Nearest: “{best}”, {abs(fits[best][0]) / error:.1f} standard errors away.",
    )


KNOWN_CLAIMS = (
    PaperClaim(
        "RECIP, Table 4", "Known views that vote reach an accuracy of 0.74 to 0.68 for 3 to 7 batches.", _known_votes
    ),
)


# ------------------------------------------------------------------ larger views, many features
def _larger_d(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows]
    said, ok = [], []
    for lam in (5, 9):
        recall, accuracy = (
            [_means(results, rows, [f"{what}, d = {d}, lam = {lam}"])[:, 0] for d in (2, 3)]
            for what in ("recall", "accuracy")
        )
        change = np.abs(accuracy[1] - accuracy[0]).max()
        ok += [np.abs(recall[1] - recall[0]).max() <= 0.05, change <= 0.02]
        said.append(
            f"lam = {lam}: recall of the pairs {recall[0].mean():.2f} and {recall[1].mean():.2f}, accuracy "
            f"{accuracy[0].mean():.3f} and {accuracy[1].mean():.3f} (largest change {change:.3f})"
        )
    return Settled(
        "holds" if all(ok) else "holds in part" if any(ok) else "does not hold",
        f"Main views, d = 2 and d = 3, means over 1 to 7 batches. {'; '.join(said)}.",
    )


def _hundred_features(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows]
    recall, precision, accuracy = (
        _means(results, rows, [f"{what}, main views"])[:, 0] for what in ("recall", "precision", "accuracy")
    )
    found = [row for row, a, b in zip(rows, recall, precision, strict=True) if min(a, b) >= 0.95]
    kept = _means(results, rows, ["kept, any row"])[:, 0]
    return Settled(
        "holds" if found else "does not hold",
        f"5,050 views of 100 features, three batches: the main views are the informative pairs at {len(found)} of "
        f"{len(rows)} values of lam ({', '.join(found) or 'none'}), with an accuracy of up to {accuracy.max():.3f}. "
        f"Any row uses {kept.min():.0f} to {kept.max():.0f} views, which the printed rule keeps.",
    )


D_CLAIMS = (
    PaperClaim("RECIP, Section 3", "On artificial data, results do not change significantly for d above 2.", _larger_d),
)
WIDE_CLAIMS = (PaperClaim("RECIP, Section 3", "RECIP runs on data with 100 features.", _hundred_features),)


# ------------------------------------------------------------------ real data
def _near_neighbours(results: Results) -> Settled:
    said, verdicts = [], []
    for column in ("RECIP", "RECIP, main views", "RECIP, ours"):
        gaps = {title: one.mean - other.mean for title, one, other in results.pairs(column, "KNN")}
        near = sum(gap >= -LARGEST_PRINTED_GAP for gap in gaps.values())
        worst = min(gaps, key=gaps.get)
        verdicts.append(near == len(gaps))
        said.append(f"{column}: {np.mean(list(gaps.values())):+.1f} points on average, {gaps[worst]:+.1f} on {worst}")
    return Settled(
        "holds" if verdicts[0] else "holds in part" if any(verdicts) else "does not hold",
        f"Difference to KNN on the same columns, not scaled, over {len(gaps)} data sets. {'; '.join(said)}. The "
        f"largest printed gap is {LARGEST_PRINTED_GAP:g} points.",
    )


TABLE_3_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3", "On real data, RECIP is slightly, but not substantially, worse than KNN.", _near_neighbours
    ),
)


def _vowel(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows]
    limited = [row for row in rows if "d = 10" not in row]
    single = _means(results, limited, ["views of one feature"])[:, 0]
    whole = _means(results, [row for row in rows if "d = 10" in row], ["rows in the view of all"])[:, 0]
    parts = bool((single >= 95).all()), bool((whole >= 95).any())
    said = "; ".join(f"{row}: {share:.0f} %" for row, share in zip(limited, single, strict=True))
    return Settled(
        "holds" if all(parts) else "holds in part" if any(parts) else "does not hold",
        f"Without a limit on d, the view of all features serves up to {whole.max():.0f} % of the rows. With a limit, "
        f"the kept views that have one feature are: {said}.",
    )


VOWEL_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.3",
        "On Vowel, RECIP picks views of one feature if d is limited, and that of all features if not.",
        _vowel,
    ),
)


def _spam_views(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows if "known" not in row.title]
    first, second, both, alone = (
        _means(results, rows, [column])[:, 0]
        for column in ("total × longest kept", "total × your kept", "both in first ten", "rows in views of one")
    )
    top = both >= 50
    kept = (first >= 50) & (second >= 50)
    return Settled(
        "holds" if top.any() else "holds in part" if kept.any() else "does not hold",
        f"Over five folds and {len(rows)} settings, capital run length total × longest is kept in up to "
        f"{first.max():.0f} % of the folds, total × your in up to {second.max():.0f} %, both among the ten views with "
        f"most rows in up to {both.max():.0f} %. The best view of {alone.min():.0f} to {alone.max():.0f} % of the "
        "training rows has one feature.",
    )


def _spam_flawless(results: Results) -> Settled:
    rows = [row.title for row in results.table.rows if "known" not in row.title]
    right, decided = (
        _means(results, rows, [column])[:, 0] for column in ("accuracy in first two", "rows in first two")
    )
    ok = right >= 95
    return Settled(
        "holds" if ok.all() else "holds in part" if ok.any() else "does not hold",
        f"At {ok.sum()} of {len(rows)} settings, at least 95 % of the test rows classified in the two views with most "
        f"training rows are right. These are {decided[ok].min():.0f} to {decided[ok].max():.0f} % of all test rows."
        if ok.any()
        else f"In the two views with most training rows, up to {right.max():.0f} % of the test rows are right.",
    )


def _spam_accuracy(results: Results) -> Settled:
    known = results["known", "accuracy"]
    rows = [row.title for row in results.table.rows if row.title != "known"]
    others = _means(results, rows, ["accuracy"])[:, 0]
    near = abs(known.mean - PRINTED_SPAM) <= 2 * known.std / np.sqrt(len(known.values)) + 0.1
    return Settled(
        "holds" if near else "does not hold",
        f"In the two views of Figure 1 alone, columns as they are, {known.mean:.1f} ± {known.std:.1f} % of the test "
        f"rows are right; with the views that our exact solution finds, {others.min():.1f} to {others.max():.1f} %.",
    )


SPAM_CLAIMS = (
    PaperClaim(
        "RECIP, Section 3.3",
        "Spam's two most informative views are capital run length total × longest and total × the word “your”.",
        _spam_views,
    ),
    PaperClaim(
        "RECIP, Section 3.3",
        "The points that select the two most informative views of Spam are almost flawlessly classified.",
        _spam_flawless,
    ),
    PaperClaim("RECIP, Table 3", "RECIP's accuracy on Spam is 76.8 %.", _spam_accuracy),
)
