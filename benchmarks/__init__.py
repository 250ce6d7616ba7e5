"""Speed and memory, beside the plain program and beside HIPS autograd: ``make bench``.

``python -m benchmarks`` runs everything, ``python -m benchmarks scalar`` one module. A bar that a
line has to meet stands on the line. Bars are ratios within one run wherever they can be; those in
microseconds hold for a current desktop machine, so every run also prints what plain Python costs.
"""

import os

# Before NumPy is imported: everything is measured on one core.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
os.environ["ADJOINT_CACHE"] = "off"  # nothing comes from an earlier run
