//! A value as TOML has it.

use std::fmt;

use toml::de::DeValue;

/// A value as written. Numbers keep their digits, so that decimals stay exact.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Integer(i128),
    Decimal(String),
    Flag(bool),
    Text(String),
    List(Vec<Raw>),
    /// A type that no key takes: a table, a date, an integer beyond 128 bits; with its name.
    Other(String),
}

impl From<&DeValue<'_>> for Raw {
    fn from(value: &DeValue) -> Raw {
        match value {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .map_or_else(|_| Raw::Other(integer.to_string()), Raw::Integer),
            DeValue::Float(float) => Raw::Decimal(float.as_str().to_string()),
            DeValue::Boolean(flag) => Raw::Flag(*flag),
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Array(items) => {
                Raw::List(items.iter().map(|item| Raw::from(item.get_ref())).collect())
            }
            DeValue::Datetime(date) => Raw::Other(date.to_string()),
            DeValue::Table(_) => Raw::Other("a table".to_string()),
        }
    }
}

impl Raw {
    /// Parses a TOML text of ours, such as a default of the schema.
    pub fn of_toml(text: &str) -> Raw {
        let parsed = DeValue::parse(text);
        Raw::from(parsed.unwrap_or_else(|error| panic!("{text}: {error}")).get_ref())
    }

    /// The word that sets a key back to absent.
    pub fn none() -> Raw {
        Raw::Text("none".to_string())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Integer(integer) => write!(f, "{integer}"),
            Raw::Flag(flag) => write!(f, "{flag}"),
            Raw::Text(text) => f.write_str(&quoted(text)),
            Raw::Decimal(words) | Raw::Other(words) => f.write_str(words),
            Raw::List(items) => {
                let items: Vec<_> = items.iter().map(Raw::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
