"""A whole classifier on one page, and the path of one patient through it.

python examples/path_of_a_patient.py [--out FOLDER]
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import picture
from planewise import SLMClassifier
from planewise.plot import TreeDisplay

args = picture.arguments(__doc__)
data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0)
tree = SLMClassifier(random_state=0, noise_margin=0.2).fit(X_train, y_train)
row = X_test.iloc[[3]]
told = data.target_names[tree.predict(row)[0]]
display = TreeDisplay.from_estimator(tree, row=row, class_names=data.target_names)
display.plot(title=f"{tree.score(X_test, y_test):.1%} of new rows right; the marked patient: {told}")
picture.save(display.figure_, args.out, "path_of_a_patient")
