"""``python -m adjoint``."""

import sys

from adjoint.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
