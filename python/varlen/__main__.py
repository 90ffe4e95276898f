"""``python -m varlen``."""

import sys

from varlen.cli import main

sys.exit(main())
