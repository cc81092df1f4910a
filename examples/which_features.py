"""Which features matter on their own: sorted losses and their elbow.

python examples/which_features.py [--out FOLDER]
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

import picture
from planewise import DiscriminantFeatureTest
from planewise.plot import FeatureTestDisplay

args = picture.arguments(__doc__)
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
test = DiscriminantFeatureTest(task="classification").fit(X, y)
picture.save(FeatureTestDisplay.from_estimator(test).plot().figure_, args.out, "which_features")
