"""Calibration: a device file from fio's results of a real drive."""
