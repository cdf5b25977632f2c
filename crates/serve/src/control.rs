//! Changes of policy in a running server: which keys may change, and how.

use reprieve_base::{UserError, nearest};
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Scenario, Sources, changeable};
use serde_json::{Value, json};

use crate::options::Source;

/// Limits that belong to a suspension policy, and are replaced with it.
const OF_POLICY: [&str; 11] = [
    "suspension.min_remaining_us",
    "suspension.max_suspended_us",
    "suspension.batch.reads",
    "suspension.batch.oldest_us",
    "suspension.deadline.read_slo_us",
    "suspension.deadline.margin_reads",
    "suspension.deadline.price",
    "suspension.deadline.backlog_weight",
    "suspension.budget.suspensions_per_s",
    "suspension.budget.wear_per_day",
    "suspension.budget.lost_write_share",
];

/// Returns the scenario of `source` with a changed key, and the changed source.
pub fn changed(
    source: &Source,
    scenario: &Scenario,
    key: &str,
    value: &str,
) -> Result<(Source, Scenario), UserError> {
    let changeable = changeable();
    if !changeable.contains(&key) {
        let hint = match nearest(key, changeable.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("these do: {}", changeable.join(", ")),
        };
        let what = format!("{key} = {value}: does not change while a drive is served; {hint}");
        return Err(UserError::new(what));
    }
    let is_of = |set: &str, key: &str| set.split('=').next().is_some_and(|name| name.trim() == key);
    let mut sets = in_own_names(&source.sets);
    let own = stands_for(key);
    sets.retain(|set| !is_of(set, key) && !own.iter().any(|own| is_of(set, own)));
    if key == "suspension.policy" {
        sets.retain(|set| !OF_POLICY.iter().any(|key| is_of(set, key)));
    }
    sets.push(format!("{key}={value}"));
    let source = Source { sets, ..source.clone() };
    let other = load(&source)?;
    if !scenario.may_become(&other) {
        let what =
            "the files that the scenario is made of are not as they were; start a server anew";
        return Err(UserError::new(what));
    }
    Ok((source, other))
}

/// The keys that a key is an alias of.
fn stands_for(name: &str) -> &'static [&'static str] {
    let key = scenario::keys().iter().find(|key| key.full_name == name);
    key.map_or(&[], |key| key.stands_for)
}

/// Expands aliases in overrides.
fn in_own_names(sets: &[String]) -> Vec<String> {
    let own = |set: &String| match set.split_once('=') {
        Some((name, value)) if !stands_for(name.trim()).is_empty() => {
            let own = stands_for(name.trim()).iter();
            own.map(|own| format!("{own}={}", value.trim())).collect()
        }
        _ => vec![set.clone()],
    };
    sets.iter().flat_map(own).collect()
}

/// Loads the scenario of a source.
pub fn load(source: &Source) -> Result<Scenario, UserError> {
    let sources = Sources { text: &source.text, path: &source.path, sets: &source.sets };
    scenario::load_served(&sources, registries())
}

/// A command as `reprieve ctl` sends it, in one line.
pub enum ControlCommand {
    Show,
    Set { key: String, value: String },
}

/// The command in a line of JSON.
pub fn parse(line: &str) -> Result<ControlCommand, UserError> {
    let wrong = || UserError::new("a command is {\"show\": true} or {\"set\": [KEY, VALUE]}");
    let command: Value = serde_json::from_str(line).map_err(|_| wrong())?;
    if command.get("show") == Some(&json!(true)) {
        return Ok(ControlCommand::Show);
    }
    match command.get("set").and_then(Value::as_array).map(Vec::as_slice) {
        Some([Value::String(key), Value::String(value)]) => {
            Ok(ControlCommand::Set { key: key.clone(), value: value.clone() })
        }
        _ => Err(wrong()),
    }
}

/// The keys that may change, with their current values.
pub fn rules(scenario: &Scenario) -> Value {
    let changeable = changeable();
    let mut section = "";
    let mut rules = serde_json::Map::new();
    let text = scenario::print(scenario);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if let Some((key, value)) = line.split_once(" = ") {
            let name = format!("{section}.{key}");
            if changeable.contains(&name.as_str()) {
                rules.insert(name, json!(value));
            }
        }
    }
    // An alias of several keys has a value where they agree.
    for name in changeable {
        let mut values = stands_for(name).iter().map(|own| rules[*own].clone());
        let Some(first) = values.next() else { continue };
        if values.all(|value| value == first) {
            rules.insert(name.to_string(), first);
        }
    }
    Value::Object(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(sets: &[&str]) -> Source {
        Source {
            text: "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n".into(),
            path: "test.toml".into(),
            sets: sets.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn limits_come_with_their_policy_and_go_with_it() {
        let first = source(&["suspension.policy=threshold", "suspension.min_remaining_us=90"]);
        let scenario = load(&first).expect("a good scenario");
        let (second, other) =
            changed(&first, &scenario, "suspension.policy", "always").expect("a policy");
        assert_eq!(second.sets, ["suspension.policy=always"]);
        assert_eq!(rules(&other)["suspension.policy"], "\"always\"");
        let (third, other) =
            changed(&second, &other, "suspension.max_per_operation", "3").expect("a limit");
        assert_eq!(rules(&other)["suspension.max_per_operation"], "3");
        // An alias of two keys, of which one can change after it and the other stays.
        let (fourth, two) =
            changed(&third, &other, "suspension.max_per_erase", "5").expect("another limit");
        let both = ["suspension.max_per_program", "suspension.max_per_erase"];
        assert_eq!(both.map(|key| rules(&two)[key].clone()), ["3", "5"]);
        assert!(rules(&two).get("suspension.max_per_operation").is_none());
        let (_, other) =
            changed(&fourth, &two, "suspension.max_per_operation", "none").expect("no limit");
        assert_eq!(rules(&other)["suspension.max_per_operation"], "\"none\"");
        assert_eq!(both.map(|key| rules(&other)[key].clone()), ["\"none\""; 2]);
    }

    #[test]
    fn mistakes_are_named() {
        let source = source(&[]);
        let scenario = load(&source).expect("a good scenario");
        for (key, value, expected) in [
            ("suspension.polcy", "always", "did you mean suspension.policy?"),
            ("geometry.channels", "3", "does not change while a drive is served"),
            ("suspension.policy", "alwys", "always"),
            ("suspension.max_per_operation", "-1", "max_per_operation"),
        ] {
            let error = changed(&source, &scenario, key, value).expect_err("a mistake");
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(parse("{\"set\": [\"a\"]}").is_err() && parse("").is_err());
        assert!(matches!(parse("{\"show\": true}"), Ok(ControlCommand::Show)));
    }
}
