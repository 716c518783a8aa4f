"""What all tests have in common: how long generated ones search, and that Ctrl-C means the same wherever they run.

The profile "nightly", which `make nightly` sets as HYPOTHESIS_PROFILE, searches longer.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("nightly", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Shells start background jobs with Ctrl-C ignored, and processes that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
