"""Lesson 11: two at once: what may overlap?"""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {}
