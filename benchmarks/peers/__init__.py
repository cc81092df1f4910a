"""planewise beside the libraries that people would use instead: ``python -m benchmarks.peers``.

``sets.csv`` lists the data sets and ``data.py`` prepares them. ``contenders.py`` has the estimators of each family,
``fight.py`` fits and judges one of them, ``referee.py`` lets them take turns, each in a process of its own,
``summary.py`` averages the ratios, and ``tables.py`` writes the tables of docs/benchmarks.md.
"""
