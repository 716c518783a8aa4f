"""Learning on private arrays, with scikit-learn's interface: `from tacit import ml`.

An estimator's methods are functions of tacit.numpy. On NumPy's arrays they give the clear result; inside a program
they record what is computed on private ones. A trained model discloses its data in part: docs/learning.md.
"""

from tacit.ml.base import Classifier, Estimator, NotFitted, Regressor
from tacit.ml.clusters import KMeans
from tacit.ml.components import PCA
from tacit.ml.factorisation import MatrixFactorisation
from tacit.ml.linear import LinearRegression, Ridge
from tacit.ml.logistic import LogisticRegression
from tacit.ml.metrics import accuracy_score, confusion_matrix, mean_squared_error, r2_score, roc_auc_score
from tacit.ml.poisson import PoissonRegressor
from tacit.ml.scaling import StandardScaler

__all__ = [
    "PCA",
    "Classifier",
    "Estimator",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "MatrixFactorisation",
    "NotFitted",
    "PoissonRegressor",
    "Regressor",
    "Ridge",
    "StandardScaler",
    "accuracy_score",
    "confusion_matrix",
    "mean_squared_error",
    "r2_score",
    "roc_auc_score",
]
