"""A ledger as OpenTelemetry spans, with the attribute names of the GenAI semantic conventions.

1. A call that was started is an `execute_tool` span under the run's `invoke_agent` span.
2. What was never started is no span, because nothing was executed: it is an event of the run's span.
3. The spans are plain values; hand them to the SDK of your choice. Arguments and results are not in them.

Source: OpenTelemetry semantic conventions for generative AI, spans `invoke_agent` and `execute_tool`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labkit.ledger import Event, Ledger

__all__ = ["spans"]


def spans(ledger: Ledger) -> list[dict[str, Any]]:
    """The run's span, then one for each started call, in order.

    Each has `name`, `start_s` and `end_s` (seconds since the run began; None without a clock),
    `attributes` and `events`. A call whose end was never seen has `end_s` None.
    """
    events = ledger.events
    run: dict[str, Any] = _span("invoke_agent", events[:1], events[-1:], {"gen_ai.conversation.id": ledger.run_id})
    found = [run]
    open_spans: dict[tuple[int, int | None], dict[str, Any]] = {}
    for event in events:
        place = (event.round, event.position)
        if event.kind == "started":
            open_spans[place] = _span("execute_tool", [event], [], _tool(event), name=event.tool)
            found.append(open_spans[place])
        elif event.kind in ("returned", "late") and place in open_spans:
            open_spans[place]["end_s"] = event.elapsed
        elif event.kind == "stopped":
            run["attributes"]["labkit.stop_reason"] = event.code
        if event.code and event.code not in ("ok", "answered") and event.kind != "delivered":
            target = open_spans.get(place, run)
            if target is not run:
                target["attributes"]["error.type"] = event.code
            target["events"].append(_event(event))
    return found


def _span(operation: str, first: Iterable[Event], last: Iterable[Event], more: dict[str, Any],
          name: str | None = None) -> dict[str, Any]:  # fmt: skip
    return {
        "name": f"{operation} {name}" if name else operation,
        "start_s": next((event.elapsed for event in first), None),
        "end_s": next((event.elapsed for event in last), None),
        "attributes": {"gen_ai.operation.name": operation, **more},
        "events": [],
    }


def _tool(event: Event) -> dict[str, Any]:
    return {
        "gen_ai.tool.name": event.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.call_id,
        "labkit.round": event.round,
        "labkit.position": event.position,
    }


def _event(event: Event) -> dict[str, Any]:
    attributes = {"error.type": event.code, "labkit.gate": event.gate}
    if event.position:
        attributes |= _tool(event)
    return {"name": f"labkit.{event.kind}", "time_s": event.elapsed, "attributes": attributes}
