"""Rules broken on purpose, one at a time: each is caught by a search of states or histories."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}


@dataclass(frozen=True)
class Mutant:
    """A change in one place, the law that it breaks, and what `cargo test` has to fail with."""

    breaks: str
    file: str
    old: str
    new: str
    search: tuple[str, ...]

    def apply(self, text: str) -> str:
        """Return the changed text of its file.

        Raise ValueError unless the place is there exactly once.
        """
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.file}: {self.old!r} is there {text.count(self.old)} times, not once"
            )
        return text.replace(self.old, self.new)


def mutants(*tables: str) -> list[Mutant]:
    """Return the rows of these tables, or of all."""
    rows = []
    for name in tables or TABLES:
        table = tomllib.loads(TABLES[name].read_text())
        for row in table["mutant"]:
            search = tuple(table["searches"][row.pop("search")])
            rows.append(Mutant(**row, search=search))
    return rows
