"""How one node finds its planes, in plain Python: directions, the one-dimensional test, the choice of planes.

Two things agree with the compiled core to the last bit, or ties would fall the other way: sums are integers
on a fixed-point grid, and values along a direction are float32, terms added in the order of their features.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from planewise.trees.growth import draw_rounds

F = np.float32
EPSILON = 1.1920929e-7  # of float32
MOST_JOINT = 16  # candidates judged together with the planes already chosen


# -------------------------------------------------------------------------------------------- random numbers
def mixed(z):
    """Every bit of the answer depends on every bit of z."""
    z = (z + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


class Random:
    """Splitmix64; every node has a stream of its own."""

    def __init__(self, seed, stream):
        self.state = seed ^ stream * 0xD1342543DE82EF95 % 2**64
        self.next()

    def next(self):
        out = mixed(self.state)
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        return out

    def below(self, bound):
        return (self.next() >> 32) * bound >> 32

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53


# ------------------------------------------------------------------------------------------------ statistics
class ClassStatistics:
    """One sum a class, and the number of rows. The score is minus the impurity."""

    def __init__(self, label, weight, n_classes, gini):
        whole = (weight == np.floor(weight)).all() and weight.max() <= 65536
        scale = 1.0 if whole else grid_scale(weight.sum(), 61)
        self.unit, self.gini = 1 / scale, gini
        by_class = np.eye(n_classes, dtype=np.int64)[label] * to_grid(weight, scale)[:, None]
        self.parts = np.column_stack([by_class, np.ones_like(label)])
        self.one_row = min(1.0, weight.mean())

    def weight(self, sums):
        return self.unit * sums[..., :-1].sum(axis=-1)

    def score(self, sums):
        counts, whole = sums[..., :-1].T, sums[..., :-1].sum(axis=-1)
        if self.gini:
            return self.unit * (plain_sum(counts.astype(float) ** 2).T / np.maximum(whole, 1) - whole)
        return self.unit * (plain_sum(x_ln_x(counts)).T - x_ln_x(whole))

    def impurity(self, sums):
        return np.where((sums[..., :-1] > 0).sum(axis=-1) > 1, np.maximum(0.0, -self.score(sums)), 0.0)

    def degrees_of_freedom(self, sums):
        return np.maximum(1, (sums[..., :-1] > 0).sum(axis=-1) - 1)

    def chance(self, sums, gain, n_cells):
        """What one random cut gains per degree of freedom: twice an entropy gain is a chi-square."""
        if self.gini:
            return self.one_row * self.impurity(sums) / self.weight(sums) / self.degrees_of_freedom(sums)
        return self.one_row / 2


class SquareStatistics:
    """Sums of g = w(centre - y), w, g^2/w and 1; the score, G^2/W, is what the mean saves of the loss."""

    def __init__(self, apart, weight):
        numbers = (-weight * apart, weight, (weight * apart) ** 2 / weight)
        scales = [grid_scale(each) for each in numbers]
        self.unit_g, self.unit_w, self.unit_square = (1 / scale for scale in scales)
        grid = [to_grid(each, scale) for each, scale in zip(numbers, scales, strict=True)]
        self.parts = np.column_stack([*grid, np.ones_like(grid[0])])
        self.one_row = min(1.0, weight.mean())

    def weight(self, sums):
        return self.unit_w * sums[..., 1]

    def score(self, sums):
        return (self.unit_g * sums[..., 0]) ** 2 / np.where(sums[..., 1] > 0, self.weight(sums), 1.0)

    def impurity(self, sums):
        left = self.unit_square * sums[..., 2] - self.score(sums)
        return np.where(left > 4 * self.unit_square * sums[..., -1], left, 0.0)  # not below the resolution

    def degrees_of_freedom(self, sums):
        return 1

    def chance(self, sums, gain, n_cells):
        """The loss left after the split, by row (a weight of one) and spent degree of freedom."""
        left = self.weight(sums) / self.one_row - n_cells
        return max(0.0, self.impurity(sums) - gain) / left if left > 0 else 0.0


def grid_scale(values, bits=30):
    """The power of two that brings the largest value to at most 2^bits."""
    largest = np.abs(values).max()
    return 2.0 ** min(bits - math.frexp(largest)[1], 1000) if largest > 0 else 1.0


def to_grid(values, scale):
    return np.rint(values * scale).astype(np.int64)


def roughly(x):
    """To 24 bits: cuts that part the rows alike must tie although their sums were rounded otherwise."""
    bits = np.float64(x).view(np.int64)
    return ((bits + 2**28) & ~(2**29 - 1)).view(np.float64)


def x_ln_x(counts):
    each = np.frompyfunc(lambda k: k * math.log(k) if k > 0 else 0.0, 1, 1)
    return np.asarray(each(counts), dtype=float)


def plain_sum(numbers):
    """From left to right, as the core adds; Python's and NumPy's own sums may round otherwise."""
    total = 0.0
    for number in numbers:
        total = total + number
    return total


# ------------------------------------------------------------------------------------------------ directions
class Direction(NamedTuple):
    features: list
    coefficients: list
    weights: list  # float32, for the data in their own units

    def project(self, X):
        values = self.weights[0] * X[:, self.features[0]]
        for feature, weight in zip(self.features[1:], self.weights[1:], strict=True):
            values = values + weight * X[:, feature]
        return values

    def cosine(self, other):
        a, b = (dict(zip(each.features, each.coefficients, strict=True)) for each in (self, other))
        dot = sum(a[feature] * b[feature] for feature in a.keys() & b.keys())
        return abs(dot) / math.sqrt(sum(k * k for k in a.values()) * sum(k * k for k in b.values()))


def column_scale(x, weight):
    """Weighted standard deviation without missing values, to twelve bits; 0 for a column of no use."""
    present = ~np.isnan(x)
    if not present.any():
        return 0.0
    x, weight = x[present].astype(np.float64), weight[present]
    if x.min() == x.max():
        return 0.0 if present.all() else 1.0  # that it is missing may still say something
    mean = np.average(x, weights=weight)
    deviation = math.sqrt(np.average((x - mean) ** 2, weights=weight))
    mantissa, exponent = math.frexp(deviation)
    return math.ldexp(round(mantissa * 2**12), exponent - 12)


def draw_ranks(count, available, decay, random):
    """`count` of the ranks 0 .. available - 1, no two alike, each next one with P ~ exp(-decay * rank)."""
    if count >= available:
        return list(range(available))
    if 2 * count > available or count > 16 or decay * count > 3:  # the largest of -decay * rank + Gumbel noise
        noise = [-math.log(-math.log(1 - random.uniform())) for _ in range(available)]
        return sorted(range(available), key=lambda rank: decay * rank - noise[rank])[:count]
    ranks = []
    while len(ranks) < count:
        u = random.uniform()
        flat = decay * available < 1e-9
        place = u * available if flat else -math.log(1 - u * (1 - math.exp(-decay * available))) / decay
        rank = min(int(place), available - 1)
        if rank not in ranks:
            ranks.append(rank)
    return ranks


def reduced(features, coefficients):
    """Terms by feature, without a common divisor, the first coefficient positive; None if fewer than two."""
    terms = sorted((feature, a) for feature, a in zip(features, coefficients, strict=True) if a != 0)
    if len(terms) < 2:
        return None  # the features alone are candidates anyway
    divisor = math.gcd(*(a for _, a in terms)) * (1 if terms[0][1] > 0 else -1)
    return tuple((feature, a // divisor) for feature, a in terms)


def draw_terms(ranked, estimator, random, subspace=None):
    """The oblique candidates of one node; `ranked` are its splittable features, best first.

    A set `subspace` is filled with the features of S0 that have not faded out (if all have, with the best).
    """
    found, p = [], estimator.n_projections
    for size, coef_decay, rank_decay in draw_rounds(estimator):
        most = min(size, len(ranked))
        if most < 2 and not (estimator.axis_candidates == "subspace" and len(ranked) > 1):
            if subspace is not None:
                subspace.update(ranked)
            continue
        bound = [
            max(estimator.min_coef, int(estimator.max_coef * math.exp(-coef_decay * d))) for d in range(len(ranked))
        ]
        shared = None
        if estimator.subspace == "node" or most == len(ranked):
            shared = sorted(draw_ranks(most, len(ranked), rank_decay, random))
            if subspace is not None:
                subspace.update([ranked[d] for d in shared if bound[d] > 0] or [ranked[shared[0]]])
        if most < 2:
            continue
        if shared and math.prod(2 * bound[d] + 1 for d in shared) / 2 <= p:  # few enough to try them all
            every = itertools.product(*(range(-bound[d], bound[d] + 1) for d in reversed(shared)))
            found += [reduced([ranked[d] for d in reversed(shared)], a) for a in every]
            continue
        for _ in range(p):
            ranks = shared or draw_ranks(2 + random.below(most - 1), len(ranked), rank_decay, random)
            a = [random.below(2 * bound[d] + 1) - bound[d] for d in ranks]
            found.append(reduced([ranked[d] for d in ranks], a))
    return [terms for terms in dict.fromkeys(found) if terms is not None]


# -------------------------------------------------------------------------------------- the search of a node
class Cut(NamedTuple):
    """An edge of a candidate. Of two the larger gain is better, then the more balanced, then the first."""

    gain: float = 0.0
    balance: float = -1.0  # weight of the lighter side
    edge: int = 0
    missing_right: bool = True

    @property
    def merit(self):
        return roughly(self.gain), roughly(self.balance)


class Candidate(NamedTuple):
    direction: Direction
    values: np.ndarray  # of the node's rows
    edges: np.ndarray | None = None  # n_bins + 1 with the ends of the range; None: unsplittable
    bins: np.ndarray | None = None  # of the node's rows; n_bins where the value is missing
    cut: Cut = Cut()  # the best one for the whole node


class Plane(NamedTuple):
    direction: Direction
    threshold: F
    missing_right: bool
    gain: float

    def is_right(self, X):
        values = self.direction.project(X)
        return (values >= self.threshold) | (np.isnan(values) & self.missing_right)


class Search:
    """Finds the planes of the node with the rows X, whose statistics are `parts`."""

    def __init__(self, estimator, statistics, scale, X, parts):
        self.estimator, self.statistics, self.n_bins = estimator, statistics, estimator.n_bins
        self.scale, self.X, self.parts = scale, X, parts
        self.least_gain = 1e-10 * statistics.impurity(parts.sum(axis=0))
        self.planes, self.cells = [], np.zeros(len(X), dtype=int)

    # ---- the one-dimensional test
    def measure(self, terms):
        features, coefficients = (list(each) for each in zip(*terms, strict=True))
        direction = Direction(features, coefficients, [F(a / self.scale[feature]) for feature, a in terms])
        values = direction.project(self.X)
        present = values[~np.isnan(values)]
        span = float(present.max()) - float(present.min()) if len(present) else np.inf
        rounding = 0.0  # one feature alone is compared as it is
        if len(terms) > 1:
            reach = np.nan_to_num(np.abs(self.X[:, features])).max(axis=0).tolist()
            rounding = 64 * EPSILON * sum(abs(float(w)) * r for w, r in zip(direction.weights, reach, strict=True))
        if span >= 3e38 or (span <= rounding and len(present) == len(values)):
            return Candidate(direction, values)
        if span > rounding:
            edges, bins = self.binned(values, present.min(), present.max())
        else:  # one value only: the missing ones can be split off at edge 0, nothing else
            edges, bins = present[:1], np.where(np.isnan(values), self.n_bins, self.n_bins - 1)
        return Candidate(direction, values, edges, bins, self.best_cut(bins))

    def binned(self, values, low, high):
        if self.estimator.bins == "uniform":
            width = (high - low) / F(self.n_bins)
            inner = low + np.arange(1, self.n_bins, dtype=F) * width
            bins = self.equal_bins(values, low, F(1) / width)
        else:
            few = values[:: -(-len(values) // 256)]  # at most 256 rows, evenly spaced
            few = np.sort(few[~np.isnan(few)]) if not np.isnan(few).all() else np.array([low])
            inner = few[np.arange(1, self.n_bins) * len(few) // self.n_bins]
            bins = np.where(np.isnan(values), self.n_bins, (values[:, None] >= inner).sum(axis=1))
        return np.concatenate([[low], inner, [high]]), bins

    def equal_bins(self, values, low, per_width):
        with np.errstate(over="ignore"):
            place = np.clip((values - low) * per_width, 0, self.n_bins - 1)
        return np.where(np.isnan(values), self.n_bins, place).astype(int)

    def best_cut(self, bins):
        """The edge at which cutting every cell so far gains most."""
        sums = np.zeros((self.cells.max() + 1, self.n_bins + 1, self.parts.shape[1]), dtype=np.int64)
        np.add.at(sums, (self.cells, bins), self.parts)
        whole, missing = sums.sum(axis=1, keepdims=True), sums[:, -1:]
        below = (np.cumsum(sums, axis=1) - sums)[:, :-1]  # all bins below an edge: none for edge 0
        best = Cut()
        for missing_right in (True, False) if missing.any() else (True,):
            left = below if missing_right else below + missing
            gains = plain_sum(self.gain(left, whole))
            weight_left, weight = (plain_sum(self.statistics.weight(each)) for each in (left, whole))
            balance = np.minimum(weight_left, weight - weight_left)
            for edge in np.flatnonzero(gains > 0).tolist():
                cut = Cut(gains[edge], balance[edge], edge, missing_right)
                best = cut if cut.merit > best.merit else best
        return best

    def gain(self, left, whole):
        """Of cutting each cell; 0 where a part would be too small, for such a cell will not be cut."""
        right, score = whole - left, self.statistics.score
        large = np.minimum(left[..., -1], right[..., -1]) >= self.estimator.min_samples_leaf
        return np.where(large, score(left) + score(right) - score(whole), 0.0)

    # ---- the choice of planes
    def choose(self, candidates):
        best = max(candidates, key=lambda c: c.cut.merit, default=None)
        if best is None or not best.cut.gain > self.least_gain:
            return []
        least = self.estimator.min_relative_gain * best.cut.gain
        good = [c for c in candidates if c.cut.gain > 0 and c.cut.gain >= least]
        self.add(best, best.cut)
        if self.estimator.plane_choice == "joint":
            self.add_jointly(sorted(good, key=lambda c: c.cut.merit, reverse=True)[:MOST_JOINT])
        else:
            self.add_by_cosine(good)
        return self.planes

    def add_jointly(self, good):
        """What gains most on the cells so far."""
        while len(self.planes) < self.estimator.max_planes:
            cut, best = max(((self.best_cut(c.bins), c) for c in good), key=lambda pair: pair[0].merit)
            if not cut.gain > self.least_gain:
                return
            self.add(best, cut)

    def add_by_cosine(self, good):
        """What is least like the planes so far, as long as it fills new cells and the summed score rises."""
        score = self.summed_score()
        while len(self.planes) < self.estimator.max_planes:
            alike = [max(c.direction.cosine(plane.direction) for plane in self.planes) for c in good]
            if min(alike) > self.estimator.max_cosine:
                return
            best, before = good[alike.index(min(alike))], self.cells
            self.add(best, best.cut)
            rise = self.summed_score() - score
            if len(set(self.cells)) == len(set(before)) or not rise > 0:
                self.planes.pop()
                return
            self.planes[-1] = self.planes[-1]._replace(gain=rise)
            score += rise

    def summed_score(self):
        codes = range(self.cells.max() + 1)
        return plain_sum(self.statistics.score(self.parts[self.cells == c].sum(axis=0)) for c in codes)

    def weight(self, rows):
        return self.statistics.weight(self.parts[rows].sum(axis=0))

    def add(self, candidate, cut):
        threshold = candidate.edges[cut.edge] if cut.edge > 0 else np.finfo(F).min
        if self.estimator.refine_thresholds and cut.edge > 0:
            cut, threshold = self.refined(candidate, cut)
        missing_right = cut.missing_right
        if not np.isnan(candidate.values).any():  # nothing to learn from: to the heavier side
            right = candidate.values >= threshold
            missing_right = self.weight(right) >= self.weight(~right)
        plane = Plane(candidate.direction, threshold, missing_right, cut.gain)
        self.cells = self.cells + (plane.is_right(self.X) << len(self.planes))
        self.planes.append(plane)

    def refined(self, candidate, cut):
        """Tests again between the neighbouring edges and goes to the middle of the gap at the best edge."""
        values, edges, bins = candidate.values, candidate.edges, candidate.bins
        start, stop = edges[cut.edge - 1], edges[cut.edge + 1]
        if stop > start:
            finer_bins = self.equal_bins(values, start, F(self.n_bins) / (stop - start))
            finer = self.best_cut(finer_bins)
            if finer.edge > 0 and finer.gain >= cut.gain:
                cut, bins = finer, finer_bins
        below = values[bins < cut.edge].max(initial=-np.inf)
        above = values[(bins >= cut.edge) & (bins < self.n_bins)].min(initial=np.inf)
        with np.errstate(invalid="ignore"):  # no value at all on one side
            middle = below + (above - below) / F(2)
        return cut, (middle if middle > below else above)
