//! An array of drives in simulated time: stripes, parity, mirrors, and hedged reads.
//!
//! [`Array`] splits requests into operations of single drives and decides when each is sent. The
//! drives are those of `reprieve-embed`. Between two decisions they do not affect each other, and
//! run on several threads; the result does not depend on their number.

mod array;
mod layout;
mod member;
mod options;
mod totals;

pub use array::{Array, Request, Row};
pub use options::{Options, Reads};
