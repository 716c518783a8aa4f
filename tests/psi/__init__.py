"""Tests of matching: two processes over TLS, as users start them."""
