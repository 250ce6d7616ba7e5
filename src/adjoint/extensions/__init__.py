"""Rules of packages other than Python, NumPy and SciPy; loaded when the package is first called."""
