//! Sentences on the commonest mistakes in TOML, in place of the parser's messages.

use toml::de::Error;

/// Beginnings of the parser's messages, each with a sentence; `@` is the text at fault.
const SENTENCES: &[(&str, &str)] = &[
    ("duplicate key", "@ stands twice; leave one out"),
    ("invalid basic string", "the closing \" of a string is missing"),
    ("invalid boolean", "@ must be true or false in small letters, or \"@\" in quotes"),
    ("invalid float", "@ must be a number, or \"@\" in quotes"),
    ("invalid literal string, expected `'`", "the closing ' of a string is missing"),
    ("invalid unquoted key", "@ cannot be in a key; write KEY = VALUE, or # before a comment"),
    ("key with no value", "= is missing before @; write KEY = VALUE"),
    ("missing comma between array", "a list lacks its closing ], or a comma before @"),
    ("missing escaped value", "\\ begins a special character; write \\\\, or the string in '…'"),
    ("string values must be quoted", "text must be in quotes: write \"@\""),
    ("unclosed array", "a list lacks its closing ]"),
    ("unclosed table", "the name of a section lacks its closing ]"),
    ("unexpected key or value", "@ must not follow the value; begin a new line"),
];

/// Describes a mistake in `text`; in the parser's words if it is a rare one.
pub(super) fn sentence(text: &str, error: &Error) -> String {
    let span = error.span().unwrap_or_default();
    let (before, after) = text.split_at(span.start);
    let word = text[span].trim().trim_matches(['“', '”', '‘', '’']);
    let rest = after.lines().next().unwrap_or_default().trim();
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    if word.is_empty() && error.message().starts_with("string values") {
        return "a value is missing behind =; write KEY = VALUE".to_string();
    } else if !digits.is_empty() && rest.starts_with(',') {
        let all = format!("{digits}{}", rest.split([' ', '#']).next().unwrap_or_default());
        let by = if all.split(',').skip(1).all(|group| group.len() == 3) { "" } else { "." };
        return format!("a number has no comma: write {} for {all}", all.replace(',', by));
    }
    let fault = [word, rest, "the end of the line"].into_iter().find(|text| !text.is_empty());
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    let known = SENTENCES.iter().find(|(start, _)| message.starts_with(start));
    known.map_or(message, |(_, sentence)| sentence.replace('@', fault.unwrap_or_default()))
}
