"""The papers' tables and figures, run by us under an honest protocol: ``python -m benchmarks.reproduce``.

A table is a declaration in ``tables/``: which rows and columns, what the paper printed, which experiment fills it. An
experiment names a protocol (``protocols.py``), data sets (``data.py``) and methods (``methods.py``, their grids in
``grids.py``); its cells, one for each data set, method and seed, are run by ``runner.py``, kept by ``store.py`` and put
beside the printed figures by ``results.py`` and ``writer.py``.
"""
