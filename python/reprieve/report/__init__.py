"""The report of runs, and what it shares with those of papers and of theory.

Nothing is imported here: the command line needs the tables, and the page needs half a second.
"""
