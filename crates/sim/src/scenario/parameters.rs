//! The parameters of a policy: values of the keys that apply with it alone.

use std::collections::BTreeMap;

use reprieve_base::Dur;

use super::flatten::Pair;
use super::resolve::Values;
use super::schema::{self, When};
use super::value::Value;

/// What the keys say that apply with one policy alone, by their full names.
///
/// A policy reads its own from here, so that a new key of a policy is its row in the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<&'static str, Value>);

impl Parameters {
    /// The values of all keys that apply only with some value of the key `choice`.
    pub(super) fn of(values: &Values, choice: &str) -> Parameters {
        let keys = schema::keys().iter();
        let own = keys.filter(|key| matches!(key.when, When::Equals(of, _) if of == choice));
        let given = own.filter_map(|key| Some((key.full_name, values.get(key.full_name)?.clone())));
        Parameters(given.collect())
    }

    /// The keys that have a value, with it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.0.iter().map(|(name, value)| (*name, Some(value.clone())))
    }

    /// The time under a key; `None`: it has none.
    pub fn dur(&self, name: &str) -> Option<Dur> {
        match self.0.get(name) {
            Some(Value::Duration(dur)) => Some(*dur),
            _ => None,
        }
    }

    /// The count under a key; `None`: it has none.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// The number under a key; `None`: it has none.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }
}
