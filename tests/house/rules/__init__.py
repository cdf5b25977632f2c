"""The list of rules: a name and a function that yields what is wrong with a tree."""

from collections.abc import Callable, Iterator

from ..tree import Problem, Tree
from . import circles, components, documents, figures, layers, names, registries, shape, ways

Rule = Callable[[Tree], Iterator[Problem]]

RULES: dict[str, Rule] = {
    "policies stand alone": layers.policies_use_no_component,
    "studies use public names": layers.studies_use_public_names,
    "circles of files": circles.files_form_no_circle,
    "circles of calls": circles.files_call_in_no_circle,
    "room budgets": shape.rooms_keep_to_their_budgets,
    "components": components.components_are_narrow,
    "type names": names.types_of_a_crate_have_names_of_their_own,
    "module names": names.modules_have_names_of_their_own,
    "words": names.words_have_one_meaning,
    "tuple parameters": shape.functions_take_no_tuple_apart,
    "policy registries": registries.policies_are_listed,
    "preset registries": registries.presets_are_listed,
    "dead Rust files": registries.rust_files_are_reachable,
    "file length": shape.files_are_short,
    "function length": shape.functions_are_short,
    "line width": shape.lines_are_narrow,
    "examples in comments": shape.examples_in_comments_are_text,
    "file heads": shape.files_say_what_they_are_for,
    "file size": shape.files_are_small,
    "forbidden words": shape.no_forbidden_words,
    "documents": documents.documents_are_there,
    "changelog": documents.changelog_has_its_form,
    "readme length": documents.first_pages_are_short,
    "releases": documents.releases_are_short,
    "links": documents.links_resolve,
    "table heads": documents.tables_have_heads,
    "listed pages": documents.pages_are_listed,
    "assumption numbers": documents.assumptions_exist,
    "ways through the code": ways.ways_name_functions_that_exist,
    "numbers by hand": figures.numbers_are_recorded,
}
