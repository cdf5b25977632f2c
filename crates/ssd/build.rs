//! Numbers a build by the sources that a drive is simulated from: others may prepare it otherwise.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

const CRATES: &[&str] =
    &["base", "config", "flash", "ftl", "nand", "observe", "policy", "ssd", "state", "trace"];

fn main() {
    let mut hasher = DefaultHasher::new();
    hasher.write(env::var("TARGET").expect("cargo sets it").as_bytes());
    add(Path::new("../../Cargo.lock"), &mut hasher);
    for name in CRATES {
        let sources = PathBuf::from(format!("../{name}/src"));
        assert!(sources.is_dir(), "{} are not there", sources.display());
        println!("cargo::rerun-if-changed={}", sources.display());
        add(&sources, &mut hasher);
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    println!("cargo::rustc-env=REPRIEVE_BUILD={}", hasher.finish());
}

/// Adds a file, or all below a folder; what is not there is not added.
fn add(path: &Path, hasher: &mut DefaultHasher) {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add(path, hasher));
    } else if let Ok(bytes) = fs::read(path) {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&bytes);
    }
}
