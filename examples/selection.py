"""Figure 2 of the SLM paper: the envelope of the coefficients, and the coefficients of one random direction.

D = 10 features, R = 5 of them selected, A = 10, alpha = 0.5.

python examples/selection.py [--out FOLDER]
"""

from __future__ import annotations

import picture
from planewise.plot import SelectionDisplay

args = picture.arguments(__doc__)
display = SelectionDisplay.from_parameters(
    n_features=10, subspace_size=5, max_coef=10, coef_decay=0.5, rank_decay=0.3, min_coef=0, random_state=21
).plot()
picture.save(display.figure_, args.out, "selection")
