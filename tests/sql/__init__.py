"""SQL to the algebra: meaning, names, types and refusals."""
