"""What all tests have in common: how long generated ones search, and that Ctrl-C means the same wherever they run.

The default profile repeats itself, so that a change and not chance makes a test fail; the profile "nightly", which
`make nightly` sets as HYPOTHESIS_PROFILE, searches longer and elsewhere every time.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Shells start background jobs with Ctrl-C ignored, and processes that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
