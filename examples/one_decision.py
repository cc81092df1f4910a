"""Why a tumour gets its prediction: the view that decides it, with the nearest rows of both classes.

python examples/one_decision.py [--out FOLDER]
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

import picture
from planewise import RECIPClassifier
from planewise.plot import ProjectionDisplay

args = picture.arguments(__doc__)
data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
known, patient = X.index >= 100, 54
model = RECIPClassifier(max_projections=4, random_state=0).fit(X[known], y[known])
explanation = model.explain(X.loc[[patient]], units={"worst texture": "grey levels"})[0]
print(explanation.to_text(), "Truth:", y[patient])
display = ProjectionDisplay.from_explanation(explanation, X[known], y[known]).plot()
picture.save(display.figure_, args.out, "one_decision")
