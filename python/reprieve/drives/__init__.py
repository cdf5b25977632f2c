"""Measured drives: tables of published measurements, and how near a simulated device comes."""

from reprieve.drives import rates
from reprieve.drives.folders import MeasuredDrive, load, names

__all__ = ["MeasuredDrive", "load", "names", "rates"]
