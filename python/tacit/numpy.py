"""NumPy for programs on private arrays: `import tacit.numpy as np`. Needs the extra `numpy`."""

from tacit.array.namespace import *  # noqa: F403  (the namespace is that module's __all__)
from tacit.array.namespace import __all__ as __all__
