"""Settings of the whole test run."""

import os

os.environ["ADJOINT_CACHE"] = "off"  # each test sees what the code of today generates
