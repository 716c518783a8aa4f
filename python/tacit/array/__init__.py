"""NumPy programs on private arrays: tracing, NumPy's protocols, the check of a program's source, teaching errors."""
