//! The built-in devices, parts and loads, and how a name or a path in a scenario leads to one.

use std::fs;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;

use super::parse::did_you_mean;
use super::raw::Raw;
use super::read::Leaf;

/// A built-in device, part or load: a TOML file that travels inside the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name in a scenario.
    pub name: &'static str,
    /// The file.
    pub toml: &'static str,
}

/// The presets of a folder, which holds a file of each name.
macro_rules! presets {
    ($folder:literal: $($name:literal)+) => {
        &[$(Preset {
            name: $name,
            toml: include_str!(concat!("../../../", $folder, "/", $name, ".toml")),
        }),+]
    };
}

/// The built-in drives.
pub fn devices() -> &'static [Preset] {
    presets! { "devices":
        "fast12-slc" "fast12-mlc" "tlc3d-1tb" "tlc-nvme" "zns-a" "mqsim-default-like" "mbm"
        "970pro-like" "znand-like" "tlc-enterprise" "qlc-enterprise"
        "pe8110" "pm9a3" "p5520" "cm7r" "micron7450pro" "zn540" "aws-i3" "aws-i3en" "gcp-local-ssd"
        "aero" "enterprise-2026" "tlc-client"
    }
}

/// The built-in NAND parts.
pub fn parts() -> &'static [Preset] {
    presets! { "parts":
        "slc-fast12" "mlc-fast12" "tlc3d-2021" "mlc-mqsim" "mlc3d-mbm" "mlc-970pro" "slc-znand"
        "qlc3d-2020" "tlc3d-zambelli" "qlc3d-wordline" "qlc3d-two-pass" "qlc3d-sliced"
        "slc2d-starblaze"
        "mlc2d-starblaze" "slc3d-starblaze" "tlc3d-starblaze" "tlc3d-ispe" "tlc3d-iispe"
        "tlc3d-dpes" "tlc3d-aero" "tlc3d-aero-plus" "tlc3d-2023"
    }
}

/// The built-in loads.
pub fn loads() -> &'static [Preset] {
    presets! { "loads":
        "fin1-flows" "fin2-flows" "dap-flows" "msn-flows" "cello3-flows" "cello8-flows"
        "fin1-calibrated" "fin2-calibrated" "dap-calibrated" "msn-calibrated"
        "cello3-calibrated" "cello8-calibrated"
        "fin1-coupled" "fin2-coupled" "dap-coupled" "msn-coupled" "cello3-coupled" "cello8-coupled"
    }
}

impl Preset {
    /// One sentence on its contents: the first line of the file.
    pub fn doc(&self) -> &'static str {
        let line = self.toml.lines().next().unwrap_or_default();
        line.trim_start_matches('#').trim()
    }
}

/// The text of a device, part or load, its names in errors, and the folder of its paths.
pub(super) struct Found {
    /// Its name in the scenario.
    pub written: String,
    /// `devices/NAME.toml`, or the path.
    pub file: String,
    pub text: String,
    pub folder: PathBuf,
}

/// Finds the device, part or load that its key names, among the presets or as a path.
pub(super) fn find(key: &str, leaf: &Leaf, base: &Path) -> Result<Found, UserError> {
    let Raw::Text(written) = &leaf.raw else {
        let what = "must be a string: the name of a preset or the path of a .toml file";
        return Err(leaf.fault(key, what));
    };
    if written.ends_with(".toml") || written.contains(['/', '\\']) {
        let path = locate(written, base).map_err(|what| leaf.fault(key, what))?;
        let file = path.display().to_string();
        let text = fs::read_to_string(&path)
            .map_err(|error| leaf.fault(key, format!("cannot read {file}: {error}")))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        return Ok(Found { written: written.clone(), file, text, folder });
    }
    let presets = match key {
        "device" => devices(),
        "part" => parts(),
        "load" => loads(),
        other => panic!("{other} names no preset"),
    };
    let Some(preset) = presets.iter().find(|preset| preset.name == written) else {
        let names: Vec<_> = presets.iter().map(|preset| preset.name).collect();
        let near = did_you_mean(written, names.iter().copied());
        let known = names.join(", ");
        let what = format!("must be one of {known}, or a path that ends in .toml{near}");
        return Err(leaf.fault(key, what));
    };
    Ok(Found {
        written: written.clone(),
        file: format!("{key}s/{}.toml", preset.name),
        text: preset.toml.to_string(),
        folder: base.to_path_buf(),
    })
}

/// The absolute path of the file that a scenario in the folder `base` calls `written`.
///
/// A relative path is meant from `base` if there is such a file, else from the current folder.
pub(super) fn locate(written: &str, base: &Path) -> Result<PathBuf, String> {
    locate_any(written, base, Path::is_file)
}

/// The absolute path of what `is_there` accepts, looked for as by `locate`.
pub(super) fn locate_any(
    written: &str,
    base: &Path,
    is_there: impl Fn(&Path) -> bool,
) -> Result<PathBuf, String> {
    let absolute = |path: &Path| {
        reprieve_trace::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let first = absolute(&base.join(written))?;
    let second = absolute(Path::new(written))?;
    if is_there(&first) {
        return Ok(first);
    }
    if is_there(&second) {
        return Ok(second);
    }
    if first == second {
        return Err(format!("there is no file {}", first.display()));
    }
    Err(format!("there is neither a file {} nor {}", first.display(), second.display()))
}
