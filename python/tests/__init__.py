"""Tests of the Python package and of the command line, end to end."""
