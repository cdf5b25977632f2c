"""Questions in SQL to the data set of a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError
from reprieve.extras import need
from reprieve.latency import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

_NO_DATA = "there is no data set here; name the directory of a sweep (reprieve sweep --out DIR)"


def query(sql: str, directory: Path) -> "pa.Table":
    """Return what SQL finds; every Parquet file of the directory is a table named like it.

    `buckets` has a row for each bucket of each histogram: point, run, op, upper_ns, count.
    Raises UserError if there is no data set, or if the SQL is wrong.
    """
    duckdb: Any = need("duckdb", "reprieve query", "duckdb")
    need("pyarrow", "reprieve query", "pyarrow")
    files = sorted(directory.glob("*.parquet"))
    if not files:
        raise UserError(f"{directory}: {_NO_DATA}")
    with duckdb.connect() as connection:
        for file in files:
            sql_of_file = f"SELECT * FROM read_parquet({_text(str(file))})"
            _view(connection, file.stem, sql_of_file, file)
        runs = directory / "runs.parquet"
        if runs.exists():
            _view(connection, "buckets", " UNION ALL ".join(map(_buckets, KINDS)), runs)
        own = ", ".join(_text(str(file)) for file in files)
        # A question that somebody else wrote reads these files and no other, nor the network.
        connection.execute(f"SET allowed_paths = [{own}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            asked = connection.extract_statements(sql)
            if [one.type.name for one in asked] != ["SELECT"]:
                raise UserError(f"query: {sql}: must be one SELECT; the data set is not changed")
            table: pa.Table = connection.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            lines = str(error).splitlines()
            # What follows is the line with a caret; a second line with candidates is of use.
            hint = next((line for line in lines[1:] if "andidate" in line or "mean" in line), "")
            raise UserError(f"query: {' '.join(f'{lines[0]} {hint}'.split())}") from None
    return table


def _view(connection: Any, name: str, sql: str, file: Path) -> None:
    """Name a table of a file; raises UserError if the file has no such table."""
    import duckdb

    quoted = '"' + name.replace('"', '""') + '"'
    try:
        connection.execute(f"CREATE VIEW {quoted} AS {sql}")
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        raise UserError(f"{file}: is no table of a sweep: {why}; sweep again into it") from None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _buckets(what: str) -> str:
    return (
        f"SELECT point, run, '{what}' AS op, bucket.upper_ns, bucket.count "
        f"FROM (SELECT point, run, unnest({what}_histogram) AS bucket FROM runs)"
    )
