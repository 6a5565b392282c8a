"""labkit: guard the tool calls that a language model proposes.

`run(model, host, limits)` is the whole of it; `Dispatcher` is the same without a loop.
"""

from labkit.arguments import BadArguments, read_object
from labkit.calls import Call, Context, Host, Limits, Principal, Tool
from labkit.dispatch import Dispatcher
from labkit.gates import GATES, OutOfOrder, Request, State
from labkit.laws import Violation, audit
from labkit.ledger import Event, Ledger
from labkit.loop import Message, Response, Result, Run, drive, run, scripted
from labkit.outcomes import CODES, Cancelled, Fault, NeedsUser, NotFound, Outcome, TemporaryFailure, result_text
from labkit.pairing import Mispairing, mispaired

__version__ = "0.1.0"

__all__ = [
    "CODES", "GATES", "BadArguments", "Call", "Cancelled", "Context", "Dispatcher", "Event", "Fault", "Host",
    "Ledger", "Limits", "Message", "Mispairing", "NeedsUser", "NotFound", "OutOfOrder", "Outcome", "Principal",
    "Request", "Response", "Result", "Run", "State", "TemporaryFailure", "Tool", "Violation", "audit", "drive",
    "mispaired", "read_object", "result_text", "run", "scripted",
]  # fmt: skip
