//! An array of drives in simulated time: stripes, parity, mirrors, windows, hedges, rebuilds.
//!
//! [`Array`] splits requests into operations of single drives and decides when each is sent. The
//! drives are those of `reprieve-embed`. Between two decisions they do not affect each other, and
//! run on several threads; the result does not depend on their number.

mod array;
mod array_request;
mod drive_rebuild;
mod layout;
mod load;
mod member;
mod options;
mod parity_log;
mod piece;
mod totals;
mod turns;
mod windows;

pub use array::Array;
pub use array_request::{Request, Row};
pub use options::{Options, Read};
