"""What is printed for people is printed as it is."""

from __future__ import annotations

import pytest

from tacit.cli.screen import console


def test_a_fingerprint_has_no_emoji(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("fingerprint 33:cd:ab:77", markup=False)
    assert capsys.readouterr().out == "fingerprint 33:cd:ab:77\n"
