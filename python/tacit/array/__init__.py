"""NumPy programs on private arrays: tracing, NumPy's protocols, the check of a program's source, teaching errors."""

from importlib.util import find_spec

if find_spec("numpy") is None:
    raise ImportError("private arrays need NumPy; install it with pip install 'tacit[numpy]'.")
