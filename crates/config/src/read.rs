//! Reads TOML into leaves: key, value as written, and the place to name in an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use reprieve_base::{UserError, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::keys::{SECTIONS, key, keys};
use super::mistakes;
use super::raw::Raw;

/// Layers of a scenario; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Schema,
    Part,
    Device,
    Load,
    File,
    Set,
    /// The keys of a flow, which override those that all have in common.
    Flow,
    FlowSet,
}

/// A key's value in one layer.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub raw: Raw,
    /// `FILE:LINE`, or `--set`.
    pub place: String,
    pub rank: Rank,
    /// The key as written, if it is not its own name: that of a flow.
    pub alias: Option<String>,
}

/// The keys of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub leaves: Leaves,
    pub flows: Overlays,
    /// Values of `[precondition.load]`, by their keys in `[workload]`.
    pub equilibrium: Leaves,
}

/// The values of one layer, or of several merged, by full name.
pub(super) type Leaves = BTreeMap<&'static str, Leaf>;

/// The keys of each flow that differ from `[workload]`, by name; keys as in `[workload]`.
pub(super) type Overlays = BTreeMap<String, Leaves>;

impl Leaf {
    /// The error about this value of `name`.
    pub fn fault(&self, name: &str, what: impl fmt::Display) -> UserError {
        let name = self.alias.as_deref().unwrap_or(name);
        UserError::new(format!("{name} = {}: {what}", self.raw)).at(&self.place)
    }
}

/// Reads the text of a file; every key must be known.
pub(super) fn read(text: &str, file: &str, rank: Rank) -> Result<Layer, UserError> {
    let lines = Lines { text, file };
    let (table, errors) = DeTable::parse_recoverable(text);
    let start = |error: &Error| error.span().map_or(0, |span| span.start);
    if let Some(error) = errors.iter().min_by_key(|error| start(error)) {
        let what = UserError::new(format!("not TOML: {}", mistakes::sentence(text, error)));
        return Err(what.at(lines.place_in_line(start(error))));
    }
    let mut layer = Layer::default();
    read_section(&mut layer, "", table.get_ref(), &lines, rank)?;
    Ok(layer)
}

/// Reads the table of a section, and of those inside it, such as `[suspension.batch]`.
fn read_section(
    layer: &mut Layer,
    section: &str,
    table: &DeTable,
    lines: &Lines,
    rank: Rank,
) -> Result<(), UserError> {
    for (inner, value) in by_position(table) {
        let dot = if section.is_empty() { "" } else { "." };
        let name = format!("{section}{dot}{}", inner.get_ref());
        let place = lines.place(inner.span().start);
        match value.get_ref() {
            DeValue::Table(keys) if section == FLOW => {
                // A flow that differs in nothing is still a flow.
                layer.flows.entry(inner.get_ref().to_string()).or_default();
                read_section(layer, &name, keys, lines, rank)?;
            }
            _ if section == FLOW => {
                let what = format!("{name}: must be a table of a flow's keys");
                return Err(UserError::new(what).at(place));
            }
            DeValue::Table(keys) if is_section(&name) || [FLOW, EQUILIBRIUM].contains(&&*name) => {
                read_section(layer, &name, keys, lines, rank)?;
            }
            other => insert(layer, &name, Raw::from(other), place, rank)?,
        }
    }
    Ok(())
}

/// Reads `KEY=VALUE` options into one layer; a later one overrides an earlier one.
pub(super) fn read_sets(sets: &[String]) -> Result<Layer, UserError> {
    let mut layer = Layer::default();
    for set in sets {
        let place = "--set".to_string();
        let Some((name, value)) = set.split_once('=') else {
            let what = "must be KEY=VALUE, such as timing.t_read_us=30";
            return Err(UserError::new(format!("{set:?}: {what}")).at(place));
        };
        let (name, value) = (name.trim(), value.trim());
        let raw = match DeValue::parse(value) {
            Ok(parsed) => Raw::from(parsed.get_ref()),
            Err(error) if value.starts_with(['[', '{', '"', '\'']) || value.is_empty() => {
                let sentence = mistakes::sentence(value, &error);
                let what = format!("{name} = {value}: not a TOML value: {sentence}");
                return Err(UserError::new(what).at(place));
            }
            Err(_) => Raw::Text(value.to_string()),
        };
        insert(&mut layer, name, raw, place, Rank::Set)?;
    }
    Ok(layer)
}

/// The table of the flows.
const FLOW: &str = "flow";

/// The table of the load that a drive is preconditioned with, or the key that selects one.
pub(super) const EQUILIBRIUM: &str = "precondition.load";

/// Name and key of a flow's key, such as `flow.hot.requests`.
fn flow_key(full_name: &str) -> Option<(&str, &str)> {
    full_name.strip_prefix(FLOW)?.strip_prefix('.')?.rsplit_once('.')
}

fn insert(
    layer: &mut Layer,
    full_name: &str,
    raw: Raw,
    place: String,
    rank: Rank,
) -> Result<(), UserError> {
    let leaf = Leaf { raw, place, rank, alias: None };
    if let Some((flow, name)) = flow_key(full_name) {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if flow.is_empty() || !flow.chars().all(is_bare) {
            let what = "a flow's name has letters, digits, - and _ only";
            return Err(UserError::new(format!("{full_name}: {what}")).at(&leaf.place));
        }
        let (key, leaf) = of_load(full_name, name, leaf)?;
        layer.flows.entry(flow.to_string()).or_default().insert(key, leaf);
        return Ok(());
    }
    if let Some(name) = full_name.strip_prefix(EQUILIBRIUM).and_then(|name| name.strip_prefix('.'))
    {
        let (key, leaf) = of_load(full_name, name, leaf)?;
        layer.equilibrium.insert(key, leaf);
        return Ok(());
    }
    let Some(key) = key(full_name) else {
        return Err(UserError::new(unknown(full_name, &leaf.raw)).at(&leaf.place));
    };
    layer.leaves.insert(key.full_name, leaf);
    Ok(())
}

/// Finds the key of `[workload]` with this name in a table of a load.
fn of_load(full_name: &str, name: &str, leaf: Leaf) -> Result<(&'static str, Leaf), UserError> {
    let known = format!("workload.{name}");
    let Some(key) = key(&known) else {
        let table = full_name.strip_suffix(name).expect("a full name ends with the name");
        let what = unknown(&known, &leaf.raw).replace("workload.", table);
        return Err(UserError::new(what).at(&leaf.place));
    };
    Ok((key.full_name, Leaf { alias: Some(full_name.to_string()), ..leaf }))
}

/// The error for an unknown key, with a suggestion.
fn unknown(full_name: &str, raw: &Raw) -> String {
    if is_section(full_name) {
        return format!("{full_name} = {raw}: it is a section; write [{full_name}] above its keys");
    }
    let (section, name) = full_name.rsplit_once('.').unwrap_or(("", full_name));
    if !section.is_empty() && !is_section(section) {
        let known = SECTIONS.iter().map(|s| s.name).filter(|name| !name.is_empty());
        return match nearest(section, known) {
            Some(near) => format!("[{section}]: unknown section; did you mean [{near}]?"),
            None => format!("[{section}]: unknown section; the sections are {}", section_list()),
        };
    }
    let everywhere = keys();
    let owners = everywhere.iter().filter(|key| key.name() == name);
    let owners: Vec<_> = owners
        .map(|key| match key.section() {
            "" => "stands before every section".to_string(),
            section => format!("belongs to [{section}]"),
        })
        .collect();
    if !owners.is_empty() {
        return format!("{full_name}: unknown key; {name} {}", owners.join(" or "));
    }
    let here = everywhere.iter().filter(|key| key.section() == section);
    if let Some(near) = nearest(name, here.clone().map(|key| key.name())) {
        let dot = if section.is_empty() { "" } else { "." };
        return format!("{full_name}: unknown key; did you mean {section}{dot}{near}?");
    }
    if let Some(near) = nearest(name, everywhere.iter().map(|key| key.name())) {
        let key = everywhere.iter().find(|key| key.name() == near).expect("it is one of them");
        return format!("{full_name}: unknown key; did you mean {}?", key.full_name);
    }
    let names: Vec<_> = here.map(|key| key.name()).collect();
    let owner = match section {
        "" => format!(
            "before every section stand {}; sections are {}",
            names.join(", "),
            section_list()
        ),
        section => format!("[{section}] has {}", names.join(", ")),
    };
    format!("{full_name}: unknown key; {owner}")
}

fn is_section(name: &str) -> bool {
    !name.is_empty() && SECTIONS.iter().any(|section| section.name == name)
}

fn section_list() -> String {
    let names = SECTIONS.iter().map(|section| section.name).filter(|name| !name.is_empty());
    names.map(|name| format!("[{name}]")).collect::<Vec<_>>().join(", ")
}

/// The entries of a table in the order of the file, so that the first mistake is reported.
fn by_position<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

/// Turns offsets into a text into lines.
struct Lines<'a> {
    text: &'a str,
    file: &'a str,
}

impl Lines<'_> {
    /// `FILE:LINE`; for a text in no file, marked by `<…>`, only the name.
    fn place(&self, offset: usize) -> String {
        if self.file.ends_with('>') {
            return self.file.to_string();
        }
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("{}:{line}", self.file)
    }

    /// `FILE:LINE:COLUMN`; for a text in no file only the name.
    fn place_in_line(&self, offset: usize) -> String {
        let column = 1 + self.text[..offset].rsplit('\n').next().map_or(0, |it| it.chars().count());
        let column = if self.file.ends_with('>') { String::new() } else { format!(":{column}") };
        self.place(offset) + &column
    }
}
