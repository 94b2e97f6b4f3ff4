"""``python -m purely.demo``."""

import sys

from purely.demo import main

sys.exit(main())
