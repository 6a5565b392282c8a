"""Lesson 13: all of it, on one case."""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {}
