"""The commands of the studies, which `reprieve` finds as entry points."""
