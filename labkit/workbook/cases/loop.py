"""Lesson 06: how do results get back, and how does a run end?"""

from __future__ import annotations

from typing import Any

CASES: dict[str, dict[str, Any]] = {}
