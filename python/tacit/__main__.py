"""``python -m tacit`` is the ``tacit`` command."""

import sys

from tacit.cli.main import main

sys.exit(main())
