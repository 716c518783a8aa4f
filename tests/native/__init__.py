"""The native module through its Python face."""
