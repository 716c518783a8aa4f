"""What a query means: types and their public bounds, relations, expressions, and what is wrong with a query."""
