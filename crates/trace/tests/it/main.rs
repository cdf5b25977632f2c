//! Tests of the crate from outside: files in, requests out.

mod compression;
mod convert;
mod files;
mod formats;
mod mixed;
mod mixed_extras;
mod profile;
mod replay;
mod volumes;
