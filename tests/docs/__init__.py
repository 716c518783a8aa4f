"""Documents and what they say of the code."""
