"""Rules of builtin types and functions, and of the standard modules that move values.

A type has a file of its own. Functions are in `builtin_functions` (`sorted`, `all`), `iterators`
(`zip`, `map`), `numbers` (`abs`, `round`) or `specials` (`len`, `str`).
"""

import adjoint.rules.python.builtins.builtin_functions
import adjoint.rules.python.builtins.bytearrays
import adjoint.rules.python.builtins.comparisons
import adjoint.rules.python.builtins.deques
import adjoint.rules.python.builtins.dict_kinds
import adjoint.rules.python.builtins.dict_views
import adjoint.rules.python.builtins.dicts
import adjoint.rules.python.builtins.exceptions
import adjoint.rules.python.builtins.exec_and_eval
import adjoint.rules.python.builtins.formatting
import adjoint.rules.python.builtins.getters
import adjoint.rules.python.builtins.indexing
import adjoint.rules.python.builtins.iterators
import adjoint.rules.python.builtins.lists
import adjoint.rules.python.builtins.numbers
import adjoint.rules.python.builtins.ordered_dicts
import adjoint.rules.python.builtins.sequences
import adjoint.rules.python.builtins.sets
import adjoint.rules.python.builtins.slots
import adjoint.rules.python.builtins.specials
import adjoint.rules.python.class_decorators  # noqa: F401  each registers its rules
