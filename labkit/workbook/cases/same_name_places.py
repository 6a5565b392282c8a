"""Lesson 14: which of the two shops is meant?"""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {}
