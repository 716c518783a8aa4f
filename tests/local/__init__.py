"""The local engine: load checks, local parts, encodings and tails."""
