//! A value within the range of its key, and the fields of the scenario that it may become.

use std::collections::BTreeMap;

use reprieve_base::Dur;
use reprieve_trace::DeviceSelection;

/// A value within the range of its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Count(u64),
    /// A number.
    Number(f64),
    /// A time.
    Duration(Dur),
    /// `true` or `false`.
    Flag(bool),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
}

/// The settled values by full name; a key without one is off or does not apply.
pub(super) type Values = BTreeMap<&'static str, Value>;

impl Value {
    /// The word or text of a value that is one.
    pub(super) fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    /// The items of a value that is a list.
    pub(super) fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            other => panic!("{other:?} is no list"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

/// A type that a field of the scenario may have.
pub(super) trait Field: Sized {
    /// Converts a value that the schema has validated.
    fn of(value: &Value) -> Self;

    /// The value of a field; `None` where it is absent.
    fn value(&self) -> Option<Value>;
}

/// The field of a value.
pub(super) fn of<T: Field>(value: &Value) -> T {
    T::of(value)
}

/// Fields that one variant of a value is.
macro_rules! fields {
    ($($type:ty: $variant:ident, $of:expr, $value:expr;)+) => {
        $(impl Field for $type {
            fn of(value: &Value) -> Self {
                match value {
                    Value::$variant(inner) => ($of)(inner),
                    other => panic!("{other:?} in a field of another type"),
                }
            }

            fn value(&self) -> Option<Value> {
                Some(Value::$variant(($value)(self)))
            }
        })+
    };
}

const BOUND: &str = "the schema bounds it";

fields! {
    u16: Count, |count: &u64| u16::try_from(*count).expect(BOUND), |n: &u16| u64::from(*n);
    u32: Count, |count: &u64| u32::try_from(*count).expect(BOUND), |n: &u32| u64::from(*n);
    u64: Count, |count: &u64| *count, |n: &u64| *n;
    f64: Number, |number: &f64| *number, |n: &f64| *n;
    Dur: Duration, |dur: &Dur| *dur, |dur: &Dur| *dur;
    bool: Flag, |flag: &bool| *flag, |flag: &bool| *flag;
    String: Text, String::clone, String::clone;
}

impl Field for Value {
    fn of(value: &Value) -> Self {
        value.clone()
    }

    fn value(&self) -> Option<Value> {
        Some(self.clone())
    }
}

impl<T: Field> Field for Option<T> {
    fn of(value: &Value) -> Self {
        Some(T::of(value))
    }

    fn value(&self) -> Option<Value> {
        self.as_ref().and_then(T::value)
    }
}

/// Types whose values are words: each word with its value and a sentence. The first is the
/// default.
macro_rules! words {
    ($($(#[doc = $about:literal])+ $type:ident {
        $first:literal = $start:ident, $doc:literal;
        $($word:literal = $variant:ident, $what:literal;)+
    })+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $type {
            #[default]
            #[doc = $doc]
            $start,
            $(#[doc = $what] $variant),+
        }

        impl $type {
            /// Its words, each with a sentence.
            pub const WORDS: &'static [reprieve_base::Entry] = &[
                reprieve_base::Entry { name: $first, doc: $doc },
                $(reprieve_base::Entry { name: $word, doc: $what }),+
            ];

            /// Every value, in the order of the words.
            pub const ALL: [$type; [$first, $($word),+].len()] =
                [$type::$start, $($type::$variant),+];

            /// The word of a value.
            pub fn name(self) -> &'static str {
                $type::WORDS[self as usize].name
            }
        }

        impl crate::value::Field for $type {
            fn of(value: &crate::value::Value) -> Self {
                let found = $type::ALL.into_iter().find(|of| of.name() == value.text());
                found.expect("the schema knows its words")
            }

            fn value(&self) -> Option<crate::value::Value> {
                Some(crate::value::Value::from(self.name()))
            }
        }
    )+};
}

pub(super) use words;

/// An empty list is absent.
impl<T: Field> Field for Vec<T> {
    fn of(value: &Value) -> Self {
        value.items().iter().map(T::of).collect()
    }

    fn value(&self) -> Option<Value> {
        let items: Vec<_> = self.iter().filter_map(T::value).collect();
        (!items.is_empty()).then_some(Value::List(items))
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn of(value: &Value) -> Self {
        let pair = value.items();
        (A::of(&pair[0]), B::of(&pair[1]))
    }

    fn value(&self) -> Option<Value> {
        Some(Value::List(vec![self.0.value()?, self.1.value()?]))
    }
}

impl Field for DeviceSelection {
    fn of(value: &Value) -> Self {
        match value {
            Value::Text(word) if word == "merge" => DeviceSelection::Merge,
            Value::Text(_) => DeviceSelection::Concatenate,
            numbers => DeviceSelection::Only(of(numbers)),
        }
    }

    fn value(&self) -> Option<Value> {
        match self {
            DeviceSelection::Merge => Some(Value::from("merge")),
            DeviceSelection::Concatenate => Some(Value::from("concatenate")),
            DeviceSelection::Only(numbers) => numbers.value(),
        }
    }
}

/// An integer field that holds a number in smaller units, to the nearest.
pub(super) trait Scaled {
    /// Multiplies a number by `factor`.
    fn times(number: f64, factor: f64) -> Self;

    /// Divides the field by `factor`.
    fn over(&self, factor: f64) -> Option<f64>;
}

macro_rules! scaled {
    ($($type:ty),+) => {
        $(impl Scaled for $type {
            fn times(number: f64, factor: f64) -> Self {
                (number * factor).round() as $type
            }

            fn over(&self, factor: f64) -> Option<f64> {
                Some(*self as f64 / factor)
            }
        })+
    };
}

scaled!(u32, u64);

impl<T: Scaled> Scaled for Option<T> {
    fn times(number: f64, factor: f64) -> Self {
        Some(T::times(number, factor))
    }

    fn over(&self, factor: f64) -> Option<f64> {
        self.as_ref()?.over(factor)
    }
}
