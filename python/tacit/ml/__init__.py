"""Learning on private arrays, with scikit-learn's interface: `from tacit import ml`."""

from tacit.ml.boosting import GradientBoostingClassifier as GradientBoostingClassifier
from tacit.ml.boosting import GradientBoostingRegressor as GradientBoostingRegressor
from tacit.ml.layers import AveragePool as AveragePool
from tacit.ml.layers import BatchNormalization as BatchNormalization
from tacit.ml.layers import Convolution as Convolution
from tacit.ml.layers import Dense as Dense
from tacit.ml.layers import Flatten as Flatten
from tacit.ml.layers import MaxPool as MaxPool
from tacit.ml.layers import Relu as Relu
from tacit.ml.layers import Sigmoid as Sigmoid
from tacit.ml.layers import Tanh as Tanh
from tacit.ml.networks import Network as Network
from tacit.ml.networks import lenet5 as lenet5
from tacit.ml.networks_estimators import MLPClassifier as MLPClassifier
from tacit.ml.networks_estimators import MLPRegressor as MLPRegressor
from tacit.ml.onnx_file import load_onnx as load_onnx
from tacit.ml.onnx_model import Architecture as Architecture
from tacit.ml.onnx_model import OnnxModel as OnnxModel
from tacit.ml.onnx_model import load_architecture as load_architecture
from tacit.ml.trees import DecisionTreeClassifier as DecisionTreeClassifier
from tacit.ml.trees import DecisionTreeRegressor as DecisionTreeRegressor
from tacit.ml.trees import quantile_edges as quantile_edges
from tacit.ml.trees import thermometers as thermometers
