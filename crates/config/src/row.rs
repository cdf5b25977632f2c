//! The form of a row: `section!` turns rows into keys, each with its place in the scenario.
//!
//! ```text
//! section! {
//!     /// One sentence about the section.
//!     TIMING "timing"
//!
//!     /// One sentence about the key.
//!     t_bus_us [timing.bus] us(), or("40"), when(ON), from("Data sheet");
//! }
//! ```
//!
//! After the name come the place, the kind with its range, and further attributes:
//! `or` a default in TOML, `same_as` another key or `absent`, else the key is required; `when` it
//! applies, which keys it `stands_for`, whether it may change `while_served`, whether it is of the
//! `environment` and not a choice, which values are `bounds`, and `from` which source it is.
//!
//! A place is a path of fields from the scenario on. `?` goes into an option, `??` makes one that
//! is `None`, `as Enum::Variant` goes into a variant, `trace:`, `mixed:` and `kv:` begin in such a
//! workload. `[]` is a key that only affects how others are read, and closures in parentheses
//! get and set values that no path leads to. A path in `{}` leads to parameters of a policy, which
//! finds its own there by their full names.
//!
//! Words are a kind: `choice(Type::WORDS)` if they are a type of ours. Else each has a value,
//! `one_of { "word" = value, "Its meaning."; }`; if the value holds further keys,
//! `variant_of { "word" = pattern => value, "…"; }`.

use super::key::Fallback;
use super::unit::{Interval, Unit};

// The names that rows use.
pub(super) use super::Registries;
pub(super) use super::key::{Key, Kind, Need, Place, Section};
pub(super) use super::value::{Field, Scaled, Value, Values, of};
pub(super) use reprieve_base::Entry;

pub(super) const U32: u64 = u32::MAX as u64;

/// The section of these rows.
macro_rules! section {
    (
        $(#[doc = $about:literal])+ $id:ident $section:tt
        $($(#[doc = $doc:literal])+ $name:ident $place:tt $kind:ident $of:tt
            $(, $with:ident $what:tt)*;)*
    ) => {
        pub(crate) const $id: Section = Section {
            name: $section,
            doc: sentence(concat!($($about),+)),
            keys: &[$(
                key(
                    full_name!($section, $name),
                    sentence(concat!($($doc),+)),
                    kind!($kind $of),
                    place!(full_name!($section, $name), $place $kind $of),
                )
                $(.$with $what)*
            ),*],
        };
    };
}

macro_rules! full_name {
    ("", $name:ident) => {
        stringify!($name)
    };
    ($section:tt, $name:ident) => {
        concat!($section, ".", stringify!($name))
    };
}

macro_rules! kind {
    (one_of { $($word:literal = $value:expr, $doc:literal;)+ }) => {
        Kind::Choice(&[$(Entry { name: $word, doc: $doc }),+])
    };
    (variant_of { $($word:literal = $pattern:pat => $value:expr, $doc:literal;)+ }) => {
        Kind::Choice(&[$(Entry { name: $word, doc: $doc }),+])
    };
    (words { $($word:literal, $doc:literal;)+ }) => {
        Kind::Choice(&[$(Entry { name: $word, doc: $doc }),+])
    };
    (choice ($entries:expr)) => {
        Kind::Choice($entries)
    };
    (list_of ($entries:expr)) => {
        Kind::Words($entries)
    };
    (scaled ($factor:literal, $($kind:tt)+)) => {
        $($kind)+
    };
    ($name:ident $of:tt) => {
        $name $of
    };
}

/// The place of a key, by the form of its path and kind.
macro_rules! place {
    ($name:expr, [] $kind:ident $of:tt) => {
        Place { get: |_| None, set: |_, _, _| None }
    };
    ($name:expr, ($get:expr, $set:expr) $kind:ident $of:tt) => {
        Place {
            get: $get,
            set: |s, value, all| {
                let set: fn(&mut Scenario, &Value, &Values) = $set;
                set(s, value, all);
                Some(())
            },
        }
    };
    ($name:expr, [$($path:tt)+] one_of { $($word:literal = $value:expr, $doc:literal;)+ }) => {
        Place {
            get: |s| {
                let now = path!(@ref [s] $($path)+);
                $(if *now == $value { return Some(Value::from($word)); })+
                None
            },
            set: |s, value, _| put!(s, [$($path)+], word!(value, $($word => $value),+)),
        }
    };
    ($name:expr, [$($path:tt)+] variant_of {
        $($word:literal = $pattern:pat => $value:expr, $doc:literal;)+
    }) => {
        Place {
            get: |s| match path!(@ref [s] $($path)+) {
                $($pattern => Some(Value::from($word)),)+
            },
            set: |s, value, _| put!(s, [$($path)+], word!(value, $($word => $value),+)),
        }
    };
    ($name:expr, [$($path:tt)+] scaled ($factor:literal, $($kind:tt)+)) => {
        Place {
            get: |s| path!(@ref [s] $($path)+).over($factor).value(),
            set: |s, value, _| put!(s, [$($path)+], Scaled::times(of(value), $factor)),
        }
    };
    ($name:expr, [$($path:tt)+] $kind:ident $of:tt) => {
        Place {
            get: |s| path!(@ref [s] $($path)+).value(),
            set: |s, value, _| put!(s, [$($path)+], of(value)),
        }
    };
    ($name:expr, {$($path:tt)+} $kind:ident $of:tt) => {
        Place {
            get: |s| path!(@ref [s] $($path)+).0.get($name).cloned(),
            set: |s, value, _| {
                path!(@mut [s] $($path)+).0.insert($name, value.clone());
                Some(())
            },
        }
    };
}

macro_rules! put {
    ($s:ident, [$($path:tt)+], $value:expr) => {{
        *path!(@mut [$s] $($path)+) = $value;
        Some(())
    }};
}

macro_rules! word {
    ($of:ident, $($word:literal => $value:expr),+) => {
        match $of.text() {
            $($word => $value,)+
            other => panic!("{other} is no word of the schema"),
        }
    };
}

/// A reference to the end of a path; returns `None` from the function if it does not exist.
macro_rules! path {
    (@ref [$($at:tt)+]) => { &$($at)+ };
    (@mut [$($at:tt)+]) => { &mut $($at)+ };
    (@$how:ident [$s:ident] trace: $($rest:tt)+) => {
        path!(@$how [$s] workload ? as WorkloadConfig::Trace . $($rest)+)
    };
    (@$how:ident [$s:ident] mixed: $($rest:tt)+) => {
        path!(@$how [$s] workload ? as WorkloadConfig::Mixed . $($rest)+)
    };
    (@$how:ident [$s:ident] kv: $($rest:tt)+) => {
        path!(@$how [$s] workload ? as WorkloadConfig::Kv . $($rest)+)
    };
    (@$how:ident [$s:ident] $field:ident $($rest:tt)*) => {
        path!(@$how [$s.$field] $($rest)*)
    };
    (@ref [$($at:tt)+] ? ? $($rest:tt)+) => { path!(@ref [($($at)+.as_ref()?)] $($rest)+) };
    (@mut [$($at:tt)+] ? ? $($rest:tt)+) => {
        path!(@mut [($($at)+.get_or_insert_with(Default::default))] $($rest)+)
    };
    (@ref [$($at:tt)+] ? $($rest:tt)+) => { path!(@ref [($($at)+.as_ref()?)] $($rest)+) };
    (@mut [$($at:tt)+] ? $($rest:tt)+) => { path!(@mut [($($at)+.as_mut()?)] $($rest)+) };
    (@$how:ident [$($at:tt)+] as $of:ident::$variant:ident $($rest:tt)*) => {
        path!(@$how variant [$($at)+] $of::$variant $($rest)*)
    };
    (@ref variant [$($at:tt)+] $of:ident::$variant:ident { $field:ident }) => {
        match &$($at)+ { $of::$variant { $field, .. } => $field, _ => return None }
    };
    (@mut variant [$($at:tt)+] $of:ident::$variant:ident { $field:ident }) => {
        match &mut $($at)+ { $of::$variant { $field, .. } => $field, _ => return None }
    };
    (@ref variant [$($at:tt)+] $of:ident::$variant:ident $($rest:tt)*) => {
        path!(@ref [(*match &$($at)+ {
            $of::$variant(inner) => inner,
            _ => return None,
        })] $($rest)*)
    };
    (@mut variant [$($at:tt)+] $of:ident::$variant:ident $($rest:tt)*) => {
        path!(@mut [(*match &mut $($at)+ {
            $of::$variant(inner) => inner,
            _ => return None,
        })] $($rest)*)
    };
    (@$how:ident [$($at:tt)+] . $field:tt $($rest:tt)*) => {
        path!(@$how [$($at)+.$field] $($rest)*)
    };
    (@$how:ident [$($at:tt)+] [$index:literal] $($rest:tt)*) => {
        path!(@$how [$($at)+[$index]] $($rest)*)
    };
}

/// The text of doc comments, without the space that each begins with.
pub(super) const fn sentence(doc: &'static str) -> &'static str {
    match std::str::from_utf8(doc.as_bytes().split_at(1).1) {
        Ok(text) => text,
        Err(_) => panic!("a comment begins with a space"),
    }
}

pub(super) const fn key(
    full_name: &'static str,
    doc: &'static str,
    kind: Kind,
    place: Place,
) -> Key {
    let default = Fallback::Required;
    let (when, source, stands_for, while_served) = (&[], "", &[], false);
    let design = Some(&[] as &[&str]);
    Key { full_name, kind, default, when, doc, source, stands_for, while_served, design, place }
}

/// Methods that set an attribute of a key.
macro_rules! attributes {
    ($($name:ident($($argument:ident: $type:ty)?) $field:ident: $value:expr;)+) => {
        impl Key {
            $(pub(super) const fn $name(self, $($argument: $type)?) -> Key {
                Key { $field: $value, ..self }
            })+
        }
    };
}

attributes! {
    or(toml: &'static str) default: Fallback::Toml(toml);
    same_as(other: &'static str) default: Fallback::SameAs(other);
    absent() default: Fallback::Absent;
    when(needs: &'static [Need]) when: needs;
    while_served() while_served: true;
    environment() design: None;
    bounds(values: &'static [&'static str]) design: Some(values);
    from(source: &'static str) source: source;
    stands_for(keys: &'static [&'static str]) stands_for: keys;
}

pub(super) const fn given(key: &'static str) -> Need {
    Need { key, values: &[] }
}

pub(super) const fn is(key: &'static str, values: &'static [&'static str]) -> Need {
    Need { key, values }
}

/// Functions that make a kind.
macro_rules! kinds {
    ($($name:ident($($argument:ident: $type:ty),*) = $kind:expr;)+) => {
        $(pub(super) const fn $name($($argument: $type),*) -> Kind {
            $kind
        })+
    };
}

kinds! {
    multiple(step: u64, min: u64, max: u64) = Kind::Count { min, max, step };
    count(min: u64, max: u64) = multiple(1, min, max);
    sectors(max: u64) = multiple(512, 512, max);
    counts(min: u64, max: u64) = Kind::Counts { min, max };
    weights(max: u64, most: usize) = Kind::Weights { max, most };
    open(min: f64, max: f64) = interval(min, max, true, true);
    closed(min: f64, max: f64) = interval(min, max, false, false);
    above(min: f64, max: f64) = interval(min, max, true, false);
    below(min: f64, max: f64) = interval(min, max, false, true);
    weights_by_count(max: u64, most: usize) = Kind::WeightsByCount { max, most };
    numbers(of: Kind) = Kind::Numbers(interval_of(of));
    one_or_more(of: Kind) = Kind::OneOrMore(interval_of(of));
    registered(of: fn(&Registries) -> Vec<Entry>) = Kind::Registered(of);
    us() = Kind::Duration(Unit::Microseconds);
    us_list() = Kind::Durations(Unit::Microseconds);
    s() = Kind::Duration(Unit::Seconds);
    flag() = Kind::Flag;
    text() = Kind::Text;
    preset() = Kind::Preset;
    path() = Kind::Path;
    operations() = Kind::Operations;
    sizes() = Kind::Sizes;
    devices() = Kind::Devices;
    steps() = Kind::Steps;
}

const fn interval(min: f64, max: f64, min_open: bool, max_open: bool) -> Kind {
    Kind::Number(Interval { min, max, min_open, max_open })
}

const fn interval_of(kind: Kind) -> Interval {
    match kind {
        Kind::Number(interval) => interval,
        _ => panic!("a list has numbers of an interval"),
    }
}
