"""Writes the numbers of the documentation: commands run, what they print recorded, pages filled."""
