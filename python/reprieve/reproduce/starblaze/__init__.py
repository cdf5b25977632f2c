"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from __future__ import annotations
