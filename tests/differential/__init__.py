"""Queries through the whole pipeline against DuckDB on the pooled clear data."""
