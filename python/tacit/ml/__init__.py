"""Learning on private arrays, with scikit-learn's interface: `from tacit import ml`.

An estimator's methods are functions of tacit.numpy. On NumPy's arrays they give the clear result; inside a program
they record what is computed on private ones. Networks and trees: docs/networks.md.
"""

from tacit.ml.boosting import GradientBoostingClassifier, GradientBoostingRegressor
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
from tacit.ml.networks import Network, lenet5
from tacit.ml.networks_estimators import MLPClassifier, MLPRegressor
from tacit.ml.onnx_file import load_onnx
from tacit.ml.onnx_model import Architecture, OnnxModel, load_architecture
from tacit.ml.trees import DecisionTreeClassifier, DecisionTreeRegressor, quantile_edges, thermometers

__all__ = [
    "Architecture",
    "AveragePool",
    "BatchNormalization",
    "Convolution",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Dense",
    "Flatten",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "MLPClassifier",
    "MLPRegressor",
    "MaxPool",
    "Network",
    "OnnxModel",
    "Relu",
    "Sigmoid",
    "Tanh",
    "lenet5",
    "load_architecture",
    "load_onnx",
    "quantile_edges",
    "thermometers",
]
