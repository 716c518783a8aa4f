"""Learning on private arrays, with scikit-learn's interface: `from tacit import ml`.

An estimator's methods are functions of tacit.numpy. On NumPy's arrays they give the clear result; inside a program
they record what is computed on private ones. A trained model discloses its data in part: docs/learning.md. Networks and
trees: docs/networks.md.
"""

from tacit.ml.base import Classifier, Estimator, NotFitted, Regressor
from tacit.ml.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from tacit.ml.clusters import KMeans
from tacit.ml.components import PCA
from tacit.ml.factorisation import MatrixFactorisation
from tacit.ml.layers import (
    AveragePool,
    BatchNormalization,
    Convolution,
    Dense,
    Flatten,
    MaxPool,
    Relu,
    Sigmoid,
    Tanh,
)
from tacit.ml.linear import LinearRegression, Ridge
from tacit.ml.logistic import LogisticRegression
from tacit.ml.metrics import accuracy_score, confusion_matrix, mean_squared_error, r2_score, roc_auc_score
from tacit.ml.networks import Network, lenet5
from tacit.ml.networks_estimators import MLPClassifier, MLPRegressor
from tacit.ml.onnx_file import load_onnx
from tacit.ml.onnx_model import Architecture, OnnxModel, load_architecture
from tacit.ml.poisson import PoissonRegressor
from tacit.ml.scaling import StandardScaler
from tacit.ml.trees import DecisionTreeClassifier, DecisionTreeRegressor, quantile_edges, thermometers

__all__ = [
    "PCA",
    "Architecture",
    "AveragePool",
    "BatchNormalization",
    "Classifier",
    "Convolution",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Dense",
    "Estimator",
    "Flatten",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "MatrixFactorisation",
    "MaxPool",
    "Network",
    "NotFitted",
    "OnnxModel",
    "PoissonRegressor",
    "Regressor",
    "Relu",
    "Ridge",
    "Sigmoid",
    "StandardScaler",
    "Tanh",
    "accuracy_score",
    "confusion_matrix",
    "lenet5",
    "load_architecture",
    "load_onnx",
    "mean_squared_error",
    "quantile_edges",
    "r2_score",
    "roc_auc_score",
    "thermometers",
]
