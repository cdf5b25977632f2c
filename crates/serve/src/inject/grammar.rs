//! The syntax of an injected fault: `KIND:KEY=VALUE,KEY=VALUE`.

use reprieve_base::{Dur, UserError, nearest};

use super::{Effect, Injection, PowerCut};
use crate::protocol::Kind;

/// Kinds of commands that a fault can match; `any`: all of them.
pub(super) const OPS: [(&str, Option<Kind>); 6] = [
    ("read", Some(Kind::Read)),
    ("write", Some(Kind::Write)),
    ("flush", Some(Kind::Flush)),
    ("trim", Some(Kind::Trim)),
    ("write-zeroes", Some(Kind::WriteZeroes)),
    ("any", None),
];

/// Kinds of faults, with their keys and the required ones.
const KINDS: [(&str, &[&str], &[&str]); 4] = [
    ("eio", &["op", "first", "bytes", "after", "every"], &[]),
    ("late", &["us", "op", "first", "bytes", "after", "every"], &["us"]),
    ("power-cut", &["after", "op", "first", "bytes", "keep_percent", "seed"], &["after"]),
    ("torn", &["after", "first", "bytes", "keep_percent", "seed"], &["after"]),
];

/// The longest delay: an hour.
const LATE_US_MAX: u64 = 3_600_000_000;

/// Keys and values of one fault, in the order in which they were written.
struct Words<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Words<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn number(&self, key: &str, least: u64, most: u64) -> Result<Option<u64>, UserError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let found = text.parse().ok().filter(|number| (least..=most).contains(number));
        match found {
            Some(number) => Ok(Some(number)),
            None => Err(UserError::new(format!(
                "{key} = {text} must be a whole number from {least} to {most}"
            ))),
        }
    }
}

impl Injection {
    /// Parses a fault.
    ///
    /// Errors if it is invalid; the message begins with the option.
    pub fn parse(text: &str) -> Result<Injection, UserError> {
        parse(text).map_err(|error| error.at(format_args!("--fault {text}")))
    }
}

fn parse(text: &str) -> Result<Injection, UserError> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let Some((_, keys, needed)) = KINDS.iter().find(|(name, ..)| *name == kind) else {
        return Err(unknown("fault", kind, &KINDS.map(|(name, ..)| name)));
    };
    let words = words(kind, rest, keys)?;
    if let Some(key) = needed.iter().find(|key| words.text(key).is_none()) {
        return Err(UserError::new(format!("{kind} needs {key}=NUMBER")));
    }
    let default_op = if matches!(kind, "power-cut" | "torn") { "write" } else { "any" };
    let op = words.text("op").unwrap_or(default_op);
    let Some((_, op)) = OPS.iter().find(|(name, _)| *name == op) else {
        return Err(unknown("op", op, &OPS.map(|(name, _)| name)));
    };
    Ok(Injection {
        text: text.into(),
        effect: effect(kind, &words)?,
        kind: *op,
        range: range(&words)?,
        after: words.number("after", 0, u64::MAX)?.unwrap_or(0),
        every: words.number("every", 1, u64::MAX)?.unwrap_or(1),
    })
}

fn words<'a>(kind: &str, rest: &'a str, keys: &[&str]) -> Result<Words<'a>, UserError> {
    let mut found = Words(Vec::new());
    for word in rest.split(',').filter(|_| !rest.is_empty()) {
        let Some((key, value)) = word.split_once('=') else {
            return Err(UserError::new(format!("{word:?} must be KEY=VALUE")));
        };
        if !keys.contains(&key) {
            return Err(unknown(&format!("key of {kind}"), key, keys));
        }
        if found.text(key).is_some() {
            return Err(UserError::new(format!("{key} is there twice; it must be there once")));
        }
        found.0.push((key, value));
    }
    Ok(found)
}

fn effect(kind: &str, words: &Words) -> Result<Effect, UserError> {
    Ok(match kind {
        "eio" => Effect::Error,
        "late" => {
            let us = words.number("us", 1, LATE_US_MAX)?.expect("it is needed");
            Effect::Late(Dur::from_ns(us * 1000))
        }
        _ => Effect::PowerCut(PowerCut {
            is_torn: kind == "torn",
            keep_percent: words.number("keep_percent", 0, 100)?.unwrap_or(0),
            seed: words.number("seed", 0, u64::MAX)?.unwrap_or(1),
        }),
    })
}

fn range(words: &Words) -> Result<Option<(u64, u64)>, UserError> {
    let first = words.number("first", 0, u64::MAX)?;
    match (first, words.number("bytes", 1, u64::MAX)?) {
        (None, None) => Ok(None),
        (Some(first), Some(bytes)) => Ok(Some((first, first.saturating_add(bytes)))),
        _ => Err(UserError::new("first and bytes must be there both or not at all")),
    }
}

/// The error for a word that is not among the known ones.
fn unknown(what: &str, word: &str, known: &[&str]) -> UserError {
    let meant = nearest(word, known.iter().copied());
    let meant = meant.map_or(String::new(), |near| format!("; did you mean {near}?"));
    UserError::new(format!("{word:?} is no {what}; it must be one of {}{meant}", known.join(", ")))
}
