//! The lines of a fio file: sections, options, comments.

use reprieve_base::UserError;

/// An option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) name: String,
    /// Empty if there is none.
    pub(super) value: String,
    pub(super) line: usize,
}

/// A section: `[global]`, or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) settings: Vec<Setting>,
}

/// The sections of a file, in order.
pub(super) fn parts(text: &str, file: &str) -> Result<Vec<Part>, UserError> {
    let mut parts: Vec<Part> = Vec::new();
    for (line, written) in (1..).zip(text.lines()) {
        // Either sign starts a comment, at any position.
        let bare = written.split([';', '#']).next().expect("a split has a first part").trim();
        let at = |what: String| UserError::new(what).at(format!("{file}:{line}"));
        if bare.is_empty() {
            continue;
        }
        if let Some(rest) = bare.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim).filter(|name| !name.is_empty());
            let Some(name) = name else {
                return Err(at(format!("{bare}: a section must be written as [name]")));
            };
            parts.push(Part { name: name.to_string(), line, settings: Vec::new() });
            continue;
        }
        let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
        let (name, value) = (name.trim().to_string(), value.trim().to_string());
        let Some(part) = parts.last_mut() else {
            return Err(at(format!("{name}: must stand below a section, such as [global]")));
        };
        part.settings.push(Setting { name, value, line });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blanks_are_no_options() {
        let text = "; a comment\n\n[global]\n bs = 4k  # pages\n[a b]\ntime_based\n#rw=read\n";
        let parts = parts(text, "x.fio").expect("good lines");
        let of = |name: &str, value: &str, line| Setting {
            name: name.to_string(),
            value: value.to_string(),
            line,
        };
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].name.as_str(), parts[0].line), ("global", 3));
        assert_eq!(parts[0].settings, [of("bs", "4k", 4)]);
        assert_eq!((parts[1].name.as_str(), parts[1].line), ("a b", 5));
        assert_eq!(parts[1].settings, [of("time_based", "", 6)]);
    }

    #[test]
    fn lines_that_belong_nowhere_are_refused_by_number() {
        let early = parts("rw=read\n[a]\n", "x.fio").expect_err("no section").to_string();
        assert!(early.contains("x.fio:1") && early.contains("rw"), "{early}");
        let open = parts("[a]\n[b\n", "x.fio").expect_err("no end").to_string();
        assert!(open.contains("x.fio:2") && open.contains("[b"), "{open}");
    }
}
