//! `${NAME}` in values of a fio file: variables of the environment.

use super::options::is_simulated;

/// Looks up a variable of the environment.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns a value with its variables replaced; those of options without effect stay as they are.
///
/// fio takes a variable that is not set for an empty text; here that is an error.
pub(super) fn expanded(name: &str, value: &str, known: Environment) -> Result<String, String> {
    if !is_simulated(name) {
        return Ok(value.to_string());
    }
    let (mut done, mut rest) = (String::new(), value);
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((variable, after)) = behind.split_once('}') else {
            return Err("has a variable without an end; must be written as ${NAME}".to_string());
        };
        let Some(found) = known(variable).filter(|found| !found.is_empty()) else {
            let what = "is not set in the environment; must have a value, as in";
            return Err(format!("{variable} {what} {variable}=4 reprieve run …"));
        };
        done += before;
        done += &found;
        rest = after;
    }
    Ok(done + rest)
}
