"""C functions that call their arguments: a proxy makes these callbacks part of the operation."""

from __future__ import annotations

import json.encoder
import json.scanner
import re
from types import SimpleNamespace
from typing import Any

from adjoint.rulekit.registry import primitive
from adjoint.runtime.foreign.native_call import CallbackProxy, callback_proxy
from adjoint.runtime.foreign.unknown_call import run_unknown


def _calls_back(key: Any, place: int, name: str, why: str) -> None:
    """Register `key`, which calls the operand at `place` or with the keyword `name`."""
    f: Any = getattr(*key) if isinstance(key, tuple) else key

    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        memory = record[0]
        given = args[place] if place < len(args) else options.get(name)
        lent = callback_proxy(memory, given)
        if not isinstance(lent, CallbackProxy):
            return NotImplemented
        if place < len(args):
            args = (*args[:place], lent, *args[place + 1 :])
        else:
            options[name] = lent
        return run_unknown(memory, record, slot, f, args, options, why, trusted=True)

    primitive(key)(run)


_calls_back(re.sub, 1, "repl", "returns text")
_calls_back(re.subn, 1, "repl", "returns text")
_calls_back((re.Pattern, "sub"), 1, "repl", "returns text")
_calls_back((re.Pattern, "subn"), 1, "repl", "returns text")

_make_encoder: Any = vars(json.encoder).get("c_make_encoder")
if _make_encoder is not None:
    _calls_back(_make_encoder, 1, "default", "writes text")


_make_scanner: Any = vars(json.scanner).get("c_make_scanner")
if _make_scanner is not None:
    _HOOKS = ("object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant")

    @primitive(_make_scanner)
    def _(record: list[Any], slot: int, context: Any) -> Any:
        """Replace the hooks of the decoder, which the scanner reads once, by proxies."""
        memory = record[0]
        lent = {name: callback_proxy(memory, getattr(context, name)) for name in _HOOKS}
        if not any(isinstance(hook, CallbackProxy) for hook in lent.values()):
            return NotImplemented
        stand_in = SimpleNamespace(strict=context.strict, memo=context.memo, **lent)
        why = "reads text"
        return run_unknown(memory, record, slot, _make_scanner, (stand_in,), {}, why, trusted=True)
