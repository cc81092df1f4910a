"""The machines of the paper on conformal kernels for the minimal complexity machine, as it has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planewise.mcm import LargeScaleMCMClassifier, MCMClassifier, MCMClassifierCV

__all__ = ["ls_mcm", "ls_mcm_conformal", "mcm", "mcm_conformal", "mcm_conformal_search", "mcm_search"]

C_PARAMS = tuple(2.0**power for power in range(-19, 2, 2))
GAMMA_PARAMS = tuple(2.0**power for power in (-10, -11, -12, -8, -9))  # in the order of the paper
GAMMA_C_TIMES = (
    *(2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 4.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 100.0),
    *(500.0, 800.0, 1000.0, 5000.0),
)
# The program (8)-(11): no penalty on lambda, no second solution, C on the sum of slacks, columns of mean 0, variance 1.
_PROGRAM: dict[str, Any] = {"slack": "sum", "relaxation": 1.0, "scaling": "standard", "multi_class": "ovr"}
# Algorithms 1 and 2: every machine counts, each point is judged once per fold, and only a better one replaces the best.
_SEARCH: dict[str, Any] = _PROGRAM | {
    "mus": (0.0,),
    "rhos": (0.0,),
    "selection": "first",
    "max_support": 1.0,
    "n_repeats": 1,
}
_LARGE: dict[str, Any] = {"mu": 0.0, "slack": "sum", "refine": False, "early_stopping": False, "scaling": "standard"}


def mcm(C: float = 1.0, gamma: float = 2.0**-10, *, kernel: Any = "rbf", random_state: Any = None) -> MCMClassifier:
    """The minimal complexity machine, program (8) to (11) of the paper.

    It minimises h + C sum_i q_i subject to 1 <= y_i f_i + q_i <= h and q >= 0, where f = sum_j lambda_j K(x, x_j) + b.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the sum of slacks, C in (8): ``slack="sum"``.
    gamma : float, default=2**-10
        Coefficient of the kernel, ``exp(-gamma |x - x'|^2)``, on standardised columns. The paper tunes it.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        K. The paper has "rbf", and "linear" in (4) to (7). With "linear" and "precomputed", `gamma` is not used.
    random_state : int, RandomState or None, default=None
        Passed on; nothing in this machine is random.

    Returns
    -------
    machine : MCMClassifier
        Not fitted, with ``mu=0`` (no penalty on lambda), ``relaxation=1`` (the program is solved once) and
        ``scaling="standard"`` (step 1 of Section 4).

    See Also
    --------
    mcm_search : Tunes C and gamma by Algorithm 1.
    planewise.MCMClassifier : The machine with our defaults, which are sparse.

    Notes
    -----
    What the paper leaves open, and our choice:

    - Which optimum. Where the kernel matrix has full rank, every machine that interpolates the labels is optimal: h = 1
      and q = 0, whatever C. We take the vertex that column generation ends at.
    - Where rounding errors leave the program without a solution, the least of 1e-6, 1e-5 and 1e-4 as a penalty on
      lambda stands in for 0, with a warning. The paper does not say what its solver did.
    - The columns are standardised by the training rows; the paper seems to have used all rows.
    - lambda counts as zero up to 1e-6 of the largest ``|lambda|``, unless the objective would rise by that share; the
      paper has ``|lambda|`` <= 1e-6. (18) divides the score by the norm of lambda, which changes no prediction.
    - More than two classes. The paper has two; here each class has a machine against the rest, and the highest score
      decides.

    References
    ----------
    .. [1] S. Badge, S. Soman, S. Chandra, Jayadeva, "Kernel optimization using conformal maps for the minimal
       complexity machine", Engineering Applications of Artificial Intelligence, 2021.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import mcm
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that the program is degenerate
    ...     machine = mcm(C=1.0, gamma=2.0).fit(X, y)
    >>> float(machine.h_[0].round(6)), len(machine.support_) > 50
    (1.0, True)
    """
    return MCMClassifier(C, 0.0, gamma=gamma, kernel=kernel, random_state=random_state, **_PROGRAM)


def mcm_search(
    C: Sequence[float] = C_PARAMS,
    gamma: Sequence[float] = GAMMA_PARAMS,
    *,
    kernel: Any = "rbf",
    cv: Any = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> MCMClassifierCV:
    """The minimal complexity machine with C and gamma tuned by Algorithm 1 of the paper.

    Parameters
    ----------
    C : list of float, default=2**-19, 2**-17, ..., 2**1
        Penalties on the sum of slacks to try (CParams).
    gamma : list of float, default=2**-10, 2**-11, 2**-12, 2**-8, 2**-9
        Coefficients of the kernel to try (gammaParams), in the order in which the paper lists them.
    kernel : {"rbf", "poly", "linear", "precomputed"}, default="rbf"
        K. The paper has "rbf". With "linear" and "precomputed", `gamma` is not used: only C is tuned.
    cv : int, splitter or list of (train, test) rows, default=5
        The folds that judge; an integer means shuffled stratified folds, drawn once.
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    search : MCMClassifierCV
        Not fitted, with ``mus=(0.0,)``, ``selection="first"`` (a point replaces the best one only if its accuracy is
        higher; C is varied slowest), ``max_support=1`` (every machine counts) and ``n_repeats=1``.

    See Also
    --------
    mcm : The machine at given C and gamma, and what the paper leaves open about it (such as several classes).

    Notes
    -----
    What the paper leaves open, and our choice:

    - On which rows a point is judged. The algorithm predicts and measures on "X, Y" without saying which; Section 6.1
      tunes "within each fold", and its tables report the folds that the same search has seen. Here each point is judged
      by its mean accuracy on held-out folds of the rows passed to ``fit``.
    - The printed range of C, "2^-19 to 2^2 with a multiplicative step size of 2^2", ends at 2^1.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import mcm_search
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> search = mcm_search(C=[2**-3, 2], gamma=[0.5, 2.0], cv=3, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     best = search.fit(X, y).best_params_
    >>> best["mu"], best["C"] in (2**-3, 2)
    (0.0, True)
    """
    return MCMClassifierCV(
        tuple(C), gammas=tuple(gamma), kernel=kernel, cv=cv, n_jobs=n_jobs, random_state=random_state, **_SEARCH
    )


def mcm_conformal(
    C: float = 1.0,
    gamma: float = 2.0**-10,
    gamma_c: float | None = None,
    *,
    kernel: Any = "rbf",
    printed: bool = False,
    random_state: Any = None,
) -> MCMClassifier:
    """The minimal complexity machine with a conformal kernel, steps 1 to 6 of Section 4 of the paper.

    A first machine (step 2) has the support vectors that are the cores a_j of r(x) = alpha_0 + sum_j alpha_j
    ``exp(-gamma_c |x - a_j|^2)``; the second one (step 6) has the kernel r(x) r(x') K(x, x') (16, 17).

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the sum of slacks, of both machines.
    gamma : float, default=2**-10
        Coefficient of the kernel K.
    gamma_c : float or None, default=None
        Coefficient of the Gaussians of r, itself and not a multiple of gamma. None is twice gamma, the least multiple
        that the paper tries.
    kernel : {"rbf", "poly"}, default="rbf"
        K. The paper has "rbf". "linear" and "precomputed" have no kernel function that r could change; ``fit`` refuses
        them.
    printed : bool, default=False
        Solve (13) to (15) as they are printed, with 1/M in all blocks, where the derivation has 1/M_c. This is for
        comparison only.
    random_state : int, RandomState or None, default=None
        Passed on; nothing in this machine is random.

    Returns
    -------
    machine : MCMClassifier
        Not fitted: that of `mcm` with ``conformal="signed"`` (or "printed").

    See Also
    --------
    mcm : The machine without r, and what the paper leaves open about it.
    planewise.ConformalKernel : r on its own, for any kernel method.

    Notes
    -----
    What cannot be run as printed, and what we do:

    - (15) as printed has eigenvectors with one number per row, but (17) needs one per core and one for the constant.
      With ``K1 = [1, exp(-gamma_c |x_i - a_j|^2)]`` we solve (K1' B0 K1) alpha = eta (K1' W0 K1) alpha, as the work it
      cites does.
    - The printed B0 and W0 divide every block by M. B0 is then indefinite, and the ratio is not that of the scatters
      between and within the classes. We divide the block of a class by the number of its rows, unless `printed`.
    - K1' W0 K1 can be singular; 0.001 of its mean diagonal is added to its diagonal.

    With more than two classes, which the paper does not have, the machines of the classes share r: its cores are the
    support vectors of all of them, and the scatters are those of all classes.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import mcm_conformal
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     machine = mcm_conformal(C=1.0, gamma=0.5, gamma_c=1.0).fit(X, y)
    >>> machine.score(X, y)
    1.0
    """
    return MCMClassifier(
        C,
        0.0,
        gamma=gamma,
        kernel=kernel,
        conformal="printed" if printed else "signed",
        gamma_conformal="auto" if gamma_c is None else gamma_c,
        random_state=random_state,
        **_PROGRAM,
    )


def mcm_conformal_search(
    C: Sequence[float] = C_PARAMS,
    gamma: Sequence[float] = GAMMA_PARAMS,
    gamma_c: Sequence[float] = GAMMA_C_TIMES,
    *,
    kernel: Any = "rbf",
    printed: bool = False,
    cv: Any = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> MCMClassifierCV:
    """The machine with a conformal kernel, with C, gamma and gamma_c tuned jointly by Algorithm 2 of the paper.

    Parameters
    ----------
    C : list of float, default=2**-19, 2**-17, ..., 2**1
        Penalties on the sum of slacks to try (CParams).
    gamma : list of float, default=2**-10, 2**-11, 2**-12, 2**-8, 2**-9
        Coefficients of the kernel to try (gammaParams).
    gamma_c : list of float, default=2, 2.2, 2.4, 2.6, 2.8, 3, 4, 10, ..., 5000
        Multiples of gamma to try as the coefficient of the Gaussians of r (gamma_cParams). All 22 with all C and gamma
        are 1,210 points.
    kernel : {"rbf", "poly"}, default="rbf"
        K. The paper has "rbf". "linear" and "precomputed" have no kernel function that r could change; ``fit`` refuses
        them.
    printed : bool, default=False
        As in `mcm_conformal`.
    cv : int, splitter or list of (train, test) rows, default=5
        The folds that judge; an integer means shuffled stratified folds, drawn once.
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    search : MCMClassifierCV
        Not fitted: that of `mcm_search` with ``conformal="signed"`` (or "printed").

    See Also
    --------
    mcm_search : What the paper leaves open about its searches.
    mcm_conformal : The machine at given C, gamma and gamma_c, and what cannot be run as printed.

    Notes
    -----
    Algorithm 2 also finds the best C and gamma of the machine without r on the way; use `mcm_search` for these. What
    the paper tries for large data sets is in the notes of `ls_mcm_conformal`.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import mcm_conformal_search
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> search = mcm_conformal_search(C=[2], gamma=[0.5], gamma_c=[2, 4], cv=3, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     best = search.fit(X, y).best_params_
    >>> best["gamma_conformal"] in (1.0, 2.0)
    True
    """
    return MCMClassifierCV(
        tuple(C),
        gammas=tuple(gamma),
        gammas_conformal=tuple(gamma_c),
        kernel=kernel,
        conformal="printed" if printed else "signed",
        cv=cv,
        n_jobs=n_jobs,
        random_state=random_state,
        **_SEARCH,
    )


def ls_mcm(
    C: float = 1.0,
    gamma: float | str = "scale",
    *,
    n_components: int | str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LargeScaleMCMClassifier:
    """The minimal complexity machine for many rows, learned by stochastic sub-gradient descent (Section 5).

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the sum of slacks.
    gamma : float or "scale", default="scale"
        Coefficient of the RBF kernel on standardised columns; "scale" is 1 / n_features. The paper tunes C and gamma on
        a fifth of the training rows and does not say over which values.
    n_components : int or "auto", default="auto"
        Number of training rows whose kernel values are the explicit features; "auto" is 256, or an eighth of fewer than
        2,048 rows, but at least 32. The paper does not say.
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are drawn, and of the order of the rows.

    Returns
    -------
    machine : LargeScaleMCMClassifier
        Not fitted, with ``mu=0`` (no penalty on the weights), ``slack="sum"``, ``refine=False`` (the map is not
        learned) and ``early_stopping=False``.

    See Also
    --------
    ls_mcm_conformal : With a conformal kernel.
    planewise.LargeScaleMCMClassifier : The machine with our defaults, whose map is learned.

    Notes
    -----
    The paper has no equations of the descent; it follows Sharma et al. (2017). Left open, and our choice:

    - The explicit map: kernel values with drawn rows, which span the space of a Nystroem map. As far as possible,
      equally many rows of each class are drawn.
    - The steps: sub-gradients on mini-batches by Adam with a rate that falls to zero, h bounded batch by batch; the
      averaged iterate is the machine. It starts from weights that fit some of the rows by a squared hinge.
    - The size of a batch (a tenth of the rows, but from 32 to 256), the number of passes (5 to 60, for about 1,500
      steps) and the learning rate (0.15): ``batch_size``, ``max_iter`` and ``learning_rate`` have our defaults.
    - More than two classes. The paper has two; here each class has weights against the rest on the same map.
    - The columns are standardised by a mean and a deviation measured without the outermost thousandths of the values;
      columns of two values are scaled by half their distance.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import ls_mcm
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> ls_mcm(C=1.0, gamma=1.0, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """
    return LargeScaleMCMClassifier(
        C=C, gamma=gamma, n_components=n_components, n_jobs=n_jobs, random_state=random_state, **_LARGE
    )


def ls_mcm_conformal(
    C: float = 1.0,
    gamma: float | str = "scale",
    gamma_c: float | None = None,
    *,
    n_components: int | str = "auto",
    printed: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LargeScaleMCMClassifier:
    """The machine for many rows with a conformal kernel (Section 5 and Figure 1 of the paper).

    A whole descent without r finds the support vectors; those of the larger class are discarded until both classes have
    equally many, and they are the cores of r. The descent is then run again, from the start, with the conformal kernel.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the sum of slacks.
    gamma : float or "scale", default="scale"
        Coefficient of the RBF kernel on standardised columns; "scale" is 1 / n_features.
    gamma_c : float or None, default=None
        Coefficient of the Gaussians of r, itself and not a multiple of gamma; see the notes for the values that the
        paper tries. None is twice gamma.
    n_components : int or "auto", default="auto"
        As in `ls_mcm`.
    printed : bool, default=False
        As in `mcm_conformal`.
    n_jobs : int or None, default=None
        Number of threads.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are drawn, and of the order of the rows.

    Returns
    -------
    machine : LargeScaleMCMClassifier
        Not fitted: that of `ls_mcm` with ``conformal="signed"`` (or "printed"), ``equal_cores=True`` and
        ``conformal_start="after_fit"``.

    See Also
    --------
    ls_mcm : The machine without r, and what the paper leaves open about it.
    mcm_conformal : What cannot be run as printed.

    Notes
    -----
    The paper does not say which cores are discarded: here those with the smallest weights. A support vector is a drawn
    row whose weight is not zero; without a penalty that is nearly every one. There are at most 500 cores. With more
    than two classes, which the paper does not have, all classes have equally many.

    For large data sets, Section 6.1 gives two ranges of gamma_c: first 1e-11 to 1e-1 in steps of 10, in addition to the
    multiples of gamma that `mcm_conformal_search` tries, and later, with Table 4, 1e-8 to 1e2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from planewise.published import ls_mcm_conformal
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> ls_mcm_conformal(C=1.0, gamma=1.0, gamma_c=2.0, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """
    return LargeScaleMCMClassifier(
        C=C,
        gamma=gamma,
        conformal="printed" if printed else "signed",
        conformal_start="after_fit",
        gamma_conformal="auto" if gamma_c is None else gamma_c,
        equal_cores=True,
        n_components=n_components,
        n_jobs=n_jobs,
        random_state=random_state,
        **_LARGE,
    )
