"""Rules of the builtin types and functions, and of the standard modules that move values about."""

import adjoint.rules.builtins.bytearrays
import adjoint.rules.builtins.comparing
import adjoint.rules.builtins.counted
import adjoint.rules.builtins.deques
import adjoint.rules.builtins.dicts
import adjoint.rules.builtins.exceptions
import adjoint.rules.builtins.executed
import adjoint.rules.builtins.functions
import adjoint.rules.builtins.getters
import adjoint.rules.builtins.indexing
import adjoint.rules.builtins.iterators
import adjoint.rules.builtins.lists
import adjoint.rules.builtins.numbers
import adjoint.rules.builtins.ordered
import adjoint.rules.builtins.sequences
import adjoint.rules.builtins.sets
import adjoint.rules.builtins.slots
import adjoint.rules.builtins.specials
import adjoint.rules.builtins.text
import adjoint.rules.builtins.views
import adjoint.rules.classes  # noqa: F401  each registers its rules
