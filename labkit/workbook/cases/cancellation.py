"""Lesson 10: it was cancelled: has it stopped?"""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {}
