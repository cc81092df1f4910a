"""FF-MLP and BP-MLP, the multilayer perceptrons of the SLM paper's Table I.

Written from the description of FF-MLP by Lin, Zhou, You, Rao and Kuo (arXiv 2009.04442; reference [4] of the SLM
paper): parallel linear discriminant analyses, then one neuron per region, then one neuron per class. Our own choices
are named in the docstrings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.intp]
Layers = list[Floats]

# Blobs are estimated from few rows, sometimes fewer than there are columns.
RIDGE = 1e-3
# Output of a class when no region's neuron fires, per unit of its share: too small to outvote a neuron that does.
FAINT = 1e-9


class FeedforwardMLPClassifier(ClassifierMixin, BaseEstimator):
    """A perceptron with two hidden layers whose weights are computed, not trained.

    Layer 1 has two neurons with opposite signs per plane; a plane is a two-class LDA between two blobs (components of
    the Gaussian mixture of a class) of different classes. Layer 2 has one neuron per region (a side of every plane)
    that contains training rows. The output layer has one neuron per class and connects each region with the class of
    most of its training rows. A row in a region without training rows gets the most frequent class.

    Our choices where the description is open: rows belong to their most probable blob; planes are deleted by
    `choose_planes`; covariances are shrunk by `shrinkage`.

    Parameters
    ----------
    n_components : int or sequence of int, default=2
        Gaussian components per class: one number for all classes, or one for each in the order of `classes_`. The last
        of a shorter sequence is for all classes that are left.
    shrinkage : float in [0, 1], default=0.1
        Share of the mean variance in the covariance of an LDA. 0 is the plain LDA.
    max_planes : int, default=20
        Maximum number of planes kept.
    penalty : float, default=1e6
        A region's neuron has weight 1 for the half-spaces of the region and minus `penalty` for their opposites.
    random_state : int, RandomState instance or None, default=None
        Random seed of the mixtures.

    Attributes
    ----------
    planes_, thresholds_ : ndarray of shape (n_features, n_planes) and (n_planes,)
        A row is on the positive side if ``row @ plane + threshold > 0``.
    regions_ : ndarray of shape (n_regions, n_planes)
        The sides that make a region.
    region_classes_ : ndarray of shape (n_regions,)
        Class number of each region.
    coefs_, intercepts_ : list of ndarray
        The network, in the convention of scikit-learn's MLPClassifier.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> model = FeedforwardMLPClassifier(n_components=4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int | Sequence[int] = 2,
        *,
        shrinkage: float = 0.1,
        max_planes: int = 20,
        penalty: float = 1e6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.max_planes = max_planes
        self.penalty = penalty
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Compute the network from the training rows."""
        X, y = check_X_y(X, y, dtype=np.float64)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.n_features_in_ = X.shape[1]
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}; two or more are needed.")
        planes, thresholds = self._planes(X, labels)
        sides = X @ planes + thresholds > 0
        kept = choose_planes(sides, labels, self.max_planes)
        self.planes_, self.thresholds_ = planes[:, kept], thresholds[kept]
        self.regions_, region = np.unique(sides[:, kept], axis=0, return_inverse=True)
        votes = _votes(region.ravel(), labels)
        self.region_classes_ = votes.argmax(axis=1)
        self._connect(np.bincount(labels) / len(labels))
        return self

    def _planes(self, X: Floats, labels: Integers) -> tuple[Floats, Floats]:
        """A plane between every two blobs of different classes."""
        random_state = check_random_state(self.random_state)
        numbers = np.atleast_1d(self.n_components)
        blobs = [
            (label, rows)
            for label in range(len(self.classes_))
            for rows in blobs_of(X[labels == label], int(numbers[: label + 1][-1]), random_state)
        ]
        found = [
            plane_between(one, other, self.shrinkage)
            for place, (label, one) in enumerate(blobs)
            for other_label, other in blobs[place + 1 :]
            if label != other_label
        ]
        return np.column_stack([plane for plane, _ in found]), np.array([threshold for _, threshold in found])

    def _connect(self, shares: Floats) -> None:
        """Writes planes, regions and classes as the weights of a network."""
        inside = self.regions_.T
        self.coefs_ = [
            np.hstack([self.planes_, -self.planes_]),
            np.where(np.vstack([inside, ~inside]), 1.0, -self.penalty),
            np.eye(len(self.classes_))[self.region_classes_],
        ]
        self.intercepts_ = [
            np.concatenate([self.thresholds_, -self.thresholds_]),
            np.zeros(len(self.regions_)),
            FAINT * shares,
        ]

    def decision_function(self, X: ArrayLike) -> Floats:
        """Outputs of the network, one per class, also for two classes."""
        check_is_fitted(self)
        return forward(check_array(X, dtype=np.float64), self.coefs_, self.intercepts_)[-1]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest output."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]


class BackpropagatedMLPClassifier(FeedforwardMLPClassifier):
    """The same network, from whose weights gradient descent goes on for some epochs.

    The loss is the cross-entropy of the softmax. Our choice: Adam with its usual decay rates and mini-batches, which
    the SLM paper does not name.

    Parameters
    ----------
    n_components, shrinkage, max_planes, penalty, random_state
        As in `FeedforwardMLPClassifier`. The seed also shuffles the rows.
    epochs : int, default=50
        Passes over the training rows.
    learning_rate : float, default=0.001
        Step size of Adam.
    batch_size : int, default=32
        Rows per step.
    """

    def __init__(
        self,
        n_components: int | Sequence[int] = 2,
        *,
        shrinkage: float = 0.1,
        max_planes: int = 20,
        penalty: float = 1e6,
        epochs: int = 50,
        learning_rate: float = 0.001,
        batch_size: int = 32,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components, shrinkage=shrinkage, max_planes=max_planes, penalty=penalty, random_state=random_state
        )
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Compute the network from the training rows, then train it."""
        X, y = check_X_y(X, y, dtype=np.float64)
        super().fit(X, y)
        targets = (y[:, None] == self.classes_).astype(float)
        random_state = check_random_state(self.random_state)
        step = adam(self.coefs_ + self.intercepts_, self.learning_rate)
        for _ in range(self.epochs):
            order = random_state.permutation(len(X))
            for start in range(0, len(X), self.batch_size):
                rows = order[start : start + self.batch_size]
                _, gradient = loss_and_gradient(X[rows], targets[rows], self.coefs_, self.intercepts_)
                step(gradient)
        return self


# ------------------------------------------------- stage 1: planes
def blobs_of(X: Floats, number: int, random_state: np.random.RandomState) -> list[Floats]:
    """The rows of each component of a Gaussian mixture, each row at its most probable one; fewer if some stay empty."""
    number = min(number, len(X))
    if number == 1:
        return [X]
    mixture = GaussianMixture(number, reg_covar=RIDGE, random_state=random_state)
    member = mixture.fit_predict(X)
    return [X[member == blob] for blob in np.unique(member)]


def plane_between(one: Floats, other: Floats, shrinkage: float = 0.0) -> tuple[Floats, float]:
    """Two-class LDA: the log-odds of `one` under normal densities with the pooled covariance, weights and threshold."""
    means = one.mean(axis=0), other.mean(axis=0)
    centred = np.vstack([one - means[0], other - means[1]])
    covariance = centred.T @ centred / len(centred)
    mean_variance = np.trace(covariance) / len(covariance)
    covariance = (1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(len(covariance))
    plane = np.linalg.lstsq(covariance, means[0] - means[1], rcond=None)[0]
    threshold = np.log(len(one) / len(other)) - plane @ (means[0] + means[1]) / 2
    return plane, float(threshold)


def choose_planes(sides: Flags, labels: Integers, most: int) -> list[int]:
    """The planes to keep: redundant and poor ones are deleted.

    Planes are added one at a time, each time the one with which most training rows are answered correctly; of the first
    1, 2, ..., `most` planes, the best number is kept. Then planes are deleted as long as that costs no correct answer.
    A row has no vote in its own region, so cutting regions down to single rows does not pay.
    """
    region = np.zeros(len(sides), dtype=np.intp)
    path: list[int] = []
    correct: list[int] = []
    for _ in range(min(most, sides.shape[1])):
        left = [plane for plane in range(sides.shape[1]) if plane not in path]
        scores = [_correct_without_own_vote(2 * region + sides[:, plane], labels) for plane in left]
        path.append(left[int(np.argmax(scores))])
        correct.append(max(scores))
        region = np.unique(2 * region + sides[:, path[-1]], return_inverse=True)[1]
    best = int(np.argmax(correct))
    return sorted(_delete_idle(path[: best + 1], correct[best], sides, labels))


def _delete_idle(planes: list[int], correct: int, sides: Flags, labels: Integers) -> list[int]:
    """Deletes the planes that add no correct answer, the least useful first; one always stays."""
    while len(planes) > 1:
        without = [[other for other in planes if other != plane] for plane in planes]
        scores = [_correct_without_own_vote(_number(sides[:, each]), labels) for each in without]
        if max(scores) < correct:
            break
        correct, planes = max(scores), without[int(np.argmax(scores))]
    return planes


def _number(sides: Flags) -> Integers:
    """A number for each row's region, from 0 and without gaps."""
    code = np.ascontiguousarray(np.packbits(sides, axis=1))
    return np.unique(code.view(f"V{code.shape[1]}").ravel(), return_inverse=True)[1]


# ------------------------------------------------- stages 2 and 3: regions and their classes
def _votes(region: Integers, labels: Integers) -> Integers:
    """Training rows of each class in each region."""
    n_classes = int(labels.max()) + 1
    return np.bincount(region * n_classes + labels, minlength=(int(region.max()) + 1) * n_classes).reshape(
        -1, n_classes
    )


def _correct_without_own_vote(region: Integers, labels: Integers) -> int:
    """Rows whose class has most votes in their region, their own vote not counted; ties and no votes are wrong."""
    votes = _votes(region, labels)
    top_two = np.sort(votes, axis=1)[:, -2:]
    return int(votes[top_two[:, 1] - 1 > top_two[:, 0]].max(axis=1, initial=0).sum())


# ------------------------------------------------- the network
def forward(X: Floats, coefs: Layers, intercepts: Layers) -> Layers:
    """Outputs of every layer, the rows first; rectified linear units except in the last."""
    layers = [X]
    for place, (weights, biases) in enumerate(zip(coefs, intercepts, strict=True)):
        signal = layers[-1] @ weights + biases
        layers.append(signal if place == len(coefs) - 1 else np.maximum(signal, 0.0))
    return layers


def loss_and_gradient(X: Floats, targets: Floats, coefs: Layers, intercepts: Layers) -> tuple[float, Layers]:
    """Mean cross-entropy of the softmax, and its derivatives by all weights, then all biases."""
    layers = forward(X, coefs, intercepts)
    logits = layers[-1] - layers[-1].max(axis=1, keepdims=True)
    log_shares = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    signal = (np.exp(log_shares) - targets) / len(X)
    by_weights: Layers = []
    by_biases: Layers = []
    for place in reversed(range(len(coefs))):
        by_weights.insert(0, layers[place].T @ signal)
        by_biases.insert(0, signal.sum(axis=0))
        signal = signal @ coefs[place].T * (layers[place] > 0)
    return float(-(targets * log_shares).sum() / len(X)), by_weights + by_biases


def adam(parameters: Layers, learning_rate: float) -> Any:
    """A function that moves `parameters` in place, one step of Adam (Kingma and Ba, 2015) per gradient."""
    decay, decay_of_squares, tiny = 0.9, 0.999, 1e-8
    means = [np.zeros_like(each) for each in parameters]
    squares = [np.zeros_like(each) for each in parameters]
    steps = 0

    def step(gradient: Layers) -> None:
        nonlocal steps
        steps += 1
        rate = learning_rate * np.sqrt(1 - decay_of_squares**steps) / (1 - decay**steps)
        for parameter, mean, square, slope in zip(parameters, means, squares, gradient, strict=True):
            mean += (1 - decay) * (slope - mean)
            square += (1 - decay_of_squares) * (slope**2 - square)
            parameter -= rate * mean / (np.sqrt(square) + tiny)

    return step
