"""Owners' rules: what a query exposes, whether its owners allow it, and the guards that it needs (docs/rules.md)."""
