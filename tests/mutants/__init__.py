"""Rules of suspension broken on purpose: each is caught by a search of all states."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """A change in one place, the law that it breaks, and the crate whose search has to fail."""

    breaks: str
    file: str
    old: str
    new: str
    search: str

    def apply(self, text: str) -> str:
        """Return the changed text of its file.

        Raise ValueError unless the place is there exactly once.
        """
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.file}: {self.old!r} is there {text.count(self.old)} times, not once"
            )
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """Return the rows of the table."""
    rows = tomllib.loads((Path(__file__).parent / "table.toml").read_text())["mutant"]
    return [
        Mutant(row["breaks"], row["file"], row["from"], row["to"], row["search"]) for row in rows
    ]
