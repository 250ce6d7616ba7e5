"""Entry code of programs: guards and reads of the leaves, and structure of the cotangents."""
