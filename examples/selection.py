"""
==========================
How coefficients are drawn
==========================

The envelope of the coefficients, and the coefficients of one random direction: Figure 2 of the SLM paper.

There are D = 10 features, of which R = 5 are selected; A = 10 and alpha = 0.5.
"""

import matplotlib.pyplot as plt

from planewise.plot import SelectionDisplay

SelectionDisplay.from_parameters(
    n_features=10, subspace_size=5, max_coef=10, coef_decay=0.5, rank_decay=0.3, min_coef=0, random_state=21
).plot()
plt.show()
