"""Every table of the house rules: who may use whom, what is a registry, limits, exceptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """A part of the project, and how many lines it has without tests."""

    patterns: tuple[str, ...]
    ceiling: int
    wanted: int


@dataclass(frozen=True)
class Word:
    """A word that is a name in one place, what it means there, and files elsewhere that have it."""

    place: str
    meaning: str
    others: int


# ---- Limits of use ------------------------------------------------------------------------------

# Where policies are, and the folders there: a policy sees the view that its folder's mod.rs
# defines, and its own parameters in the scenario; nothing else of the crate.
POLICY_SOURCE = "crates/policy/src/"
POLICY_FOLDERS = ("arbitrate", "dispatch", "sched", "suspend", "place", "stream", "victim")


@dataclass(frozen=True)
class Use:
    """A use by a policy that the rule above forbids, and why it is right all the same."""

    user: str
    used: str
    reason: str


POLICY_USES_ALLOWED: tuple[Use, ...] = (
    Use("suspend", "txn", "eligibility is a table of kinds of transactions"),
    Use("suspend", "work", "a policy sees how much a die needs garbage collection"),
)

# ---- Registries ---------------------------------------------------------------------------------

# Folders in which a file with an entry is one choice, listed in the folder's mod.rs. Trace
# formats of columns are rows of formats/tables.rs instead.
REGISTRIES = (
    "crates/policy/src/arbitrate",
    "crates/policy/src/dispatch",
    "crates/policy/src/sched",
    "crates/policy/src/suspend",
    "crates/policy/src/place",
    "crates/policy/src/stream",
    "crates/policy/src/victim",
    "crates/trace/src/formats",
    "crates/trace/src/synth",
)

# The constants that make a file an entry: one choice, or a family of them.
ENTRY_CONSTANTS = ("ENTRY", "ENTRIES", "FORMAT")

# Folders of presets, each of which one `presets!` under PRESET_LIST takes into the program.
PRESETS = ("devices", "parts", "loads")
PRESET_LIST = "crates/config/src/*.rs"

# ---- Limits -------------------------------------------------------------------------------------

FILE_LINES = 500
TEST_FILE_LINES = 800
FUNCTION_LINES = 70
COLUMNS = 100
README_LINES = 120
ARCHITECTURE_LINES = 150
RELEASE_LINES = 60
ENTRY_WORDS = 40

ROOMS = {
    "base, state": Room(("crates/base/src/*.rs", "crates/state/src/*.rs"), 1_743, 1_200),
    "nand": Room(("crates/nand/src/*.rs",), 3_911, 3_000),
    "flash": Room(("crates/flash/src/*.rs",), 9_293, 4_500),
    "ftl": Room(("crates/ftl/src/*.rs",), 9_632, 4_800),
    "policy": Room(("crates/policy/src/*.rs",), 5_008, 3_300),
    "ssd": Room(("crates/ssd/src/*.rs",), 8_469, 4_800),
    "observe": Room(("crates/observe/src/*.rs",), 5_763, 4_500),
    "config": Room(("crates/config/src/*.rs",), 7_165, 4_800),
    "trace": Room(("crates/trace/src/*.rs",), 10_547, 6_000),
    "serve": Room(("crates/serve/src/*.rs",), 5_743, 4_500),
    "array": Room(("crates/array/src/*.rs",), 1_647, 700),
    "faces": Room(
        tuple(f"crates/{name}/src/*.rs" for name in ("py", "capi", "embed", "web")), 4_684, 3_800
    ),
    "package": Room(("python/reprieve/*.py",), 24_328, 14_500),
    "studies": Room(("python/reprieve_studies/*.py",), 10_906, 6_500),
    **{
        f"study of {name}": Room(
            tuple(f"python/reprieve_studies/{name}/*.{kind}" for kind in ("py", "toml")),
            ceiling,
            900,
        )
        for name, ceiling in (
            ("zambelli21", 764),
            ("starblaze", 804),
            ("fast12", 890),
            ("mbm", 889),
            ("deadline", 892),
            ("aero", 655),
            ("zones", 363),
            ("kv_cache", 331),
        )
    },
    "tooling": Room(("docs/*.py", "benches/*.py", "benches/src/*.rs"), 2_750, 2_000),
    "rivals": Room(("benches/rivals/*.rs",), 2_578, 2_590),
}
"""Lines without tests of each part of the project, and the number that they are to come down to.

A change that needs more pays with a deletion in its room; a ceiling is never raised.
"""
FILE_BYTES = 100_000
# The reference is written from the presets, and not committed.
LARGE_FILES_IN = ("traces/", "docs/figures/", "docs/reference/", "requirements/")

# A type with many methods is a component, and its fields and methods are few: a reader has to hold
# all of them in mind, as each method may change each field. What has more of them is split.
COMPONENT_FROM_METHODS = 25
COMPONENT_FIELDS = 15
COMPONENT_METHODS = 60

# How many files of a crate use or call each other in circles, and how many parameters are tuples;
# no others. These numbers only fall.
FILES_IN_CIRCLES = {"flash": 15, "ftl": 7, "nand": 4, "ssd": 10}
TUPLE_PARAMETERS = {"flash": 56, "ftl": 1, "nand": 1, "observe": 10, "ssd": 3}
METHODS_OF_STD = (
    "accept add_assign any cause chain collect consume deref_mut fill_buf find for_each from keys "
    "last lines map max or path pop push_front repeat saturating_sub seek split_off sub"
)
"""Methods of the standard library that one file of ours defines as well."""

WORDS = {
    "replay": Word("crates/ftl/", "writes of a load without time, for a steady state", 2),
    "pieces": Word("crates/nand/", "planes of an operation that stop by themselves", 1),
    "tally": Word("crates/flash/", "counts at the end of an operation", 1),
}
"""Words that would mean several things; their numbers of other places only fall."""
SHARED_MODULE_NAMES = """
    cache.rs characterize.rs command.rs die.rs drive.rs equilibrium.rs event.rs
    file.rs flows.rs host.rs job.rs lane.rs memory.rs observe.rs
    operation.rs options.rs order.rs pieces.rs power.rs read.rs registries.rs registry.rs
    reliability.rs replay.rs report.rs requests.rs rig.rs rules.rs
    sectors.rs series.rs server.rs table.rs time.rs timeline.rs verify.rs waits.rs
    work.rs workload.rs calibrate.py columns.py commands.py page.py plan.py points.py
    power_loss.py search.py tables.py
"""
"""Modules of several crates, or of Python's package, that share a name; it only gets shorter."""

# Manifests that a tool defines and everyone knows need no sentence that says what they are for.
NO_HEAD = frozenset({"Cargo.toml", "rustfmt.toml", "pyproject.toml"})

# Pages with numbers that a command prints: they stand there as expressions.
PAGES_WITH_NUMBERS = (
    "docs/guide/parallelism.md",
    "docs/guide/scenario.md",
    "docs/guide/tutorial.md",
    "docs/reproductions/[!R]*.md",
    "docs/model/against-mqsim.md",
    "docs/model/loads.md",
)

# ---- Words that must not appear ----------------------------------------------------------------

# Pattern and what is wrong with it, in any text file.
FORBIDDEN = {
    r"(?<![\w.$)])/(?:work|home|root|Users)/": "an absolute path of somebody's machine",
    r"\.\./shared\b": "a path outside the project",
    r"\b(?:TODO|FIXME|XXX)\b": "unfinished work: do it, or describe it where users look",
}

# What a comment of Rust or a docstring must not begin with.
FORBIDDEN_OPENINGS = {
    r"(?m)^(?! *//[/!] \S).*\n *//[/!] (?:What|Who|Whose|The same)\b": "begin with the subject",
    r'(?m)^ *"""(?:What|Who|Whose|The same)\b': "begin with the subject",
}

# The same for Rust code, comments and literals left out.
FORBIDDEN_IN_RUST = {
    r"\b(?:todo|unimplemented)!": "unfinished work",
    r"\b(?:dbg)!": "left over from debugging",
}
UNSAFE_ONLY_IN = ("crates/py/", "crates/capi/", "crates/web/")

# ---- Exceptions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exempt:
    """A file in which one rule does not hold, and why; one that is no longer needed is an error."""

    rule: str
    path: str
    reason: str


EXCEPTIONS: tuple[Exempt, ...] = (
    Exempt("file length", "python/reprieve/keys.pyi", "written from the schema"),
    Exempt("file size", "python/reprieve/keys.pyi", "written from the schema"),
    Exempt("line width", "python/reprieve/keys.pyi", "written from the schema"),
    Exempt("forbidden words", "tests/house/tables.py", "names what it forbids"),
    Exempt("forbidden words", "tests/house/test_rules.py", "breaks the rule on purpose"),
)
