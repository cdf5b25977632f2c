"""Studies of program and erase suspension: papers, theory and databases on Reprieve."""
