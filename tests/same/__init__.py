"""Results that a change of the program's form must keep: run again, hashed, compared."""
