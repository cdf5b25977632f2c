//! Numbers for what traces call by name: hosts, files.

use std::sync::{Arc, Mutex, PoisonError};

/// Names in order of appearance, shared by the parsers of a trace's files.
#[derive(Clone, Default)]
pub(crate) struct Names {
    known: Arc<Mutex<Vec<Vec<u8>>>>,
    /// The last name looked up: rows of a name mostly follow each other.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    /// Returns the number of a name, in order of appearance.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        match &self.last {
            Some((last, number)) if last == name => *number,
            _ => {
                let number = self.look_up(name);
                self.last = Some((name.to_vec(), number));
                number
            }
        }
    }

    fn look_up(&self, name: &[u8]) -> u32 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let index = known.iter().position(|known| known == name).unwrap_or_else(|| {
            known.push(name.to_vec());
            known.len() - 1
        });
        u32::try_from(index).expect("fewer names than memory holds")
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = known.get(number as usize)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }
}
