//! Tests of the crate from outside: files in, requests out.

mod binary_formats;
mod by_size;
mod compression;
mod convert;
mod files;
mod formats;
mod fuzz;
mod kernel_events;
mod kv_cache;
mod mixed;
mod mixed_extras;
mod profile;
mod text_formats;
mod text_layer;
mod trace_source;
mod trains;
mod volumes;
