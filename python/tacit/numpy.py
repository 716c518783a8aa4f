"""NumPy for programs on private arrays: `import tacit.numpy as np`. Needs the extra `numpy`."""

from importlib.util import find_spec

if find_spec("numpy") is None:
    raise ImportError("private arrays need NumPy; install it with pip install 'tacit[numpy]'.")

from tacit.array.namespace import *  # noqa: F403  (the namespace is that module's __all__)
from tacit.array.namespace import __all__ as __all__
