//! A live drive as bytes: each of its parts writes what changes in it, or takes that back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::UserError;

/// Bytes that the parts of a drive are written to, or taken back from.
///
/// One function of a part does both, so that the two cannot differ. Data that follow from the
/// scenario are not among the bytes: a drive is created from its scenario, and takes the rest from
/// here. Parts of a few words are encoded by serde; large tables are copied as they are.
#[derive(Debug)]
pub struct Archive<'a> {
    written: Vec<u8>,
    /// Bytes that are left to be taken; `None`: they are being written.
    left: Option<&'a [u8]>,
    is_damaged: bool,
}

/// Bytes of a table that are written if one of them is not zero.
const PAGE_BYTES: usize = 4096;

fn is_used(page: &[u8]) -> bool {
    page.iter().fold(0, |all, byte| all | byte) != 0
}

impl Archive<'_> {
    /// Returns one that the parts of a drive are written to, behind these bytes.
    pub fn saving(head: Vec<u8>) -> Archive<'static> {
        Archive { written: head, left: None, is_damaged: false }
    }

    /// Returns one that the parts of a drive are taken back from.
    pub fn loading(bytes: &[u8]) -> Archive<'_> {
        Archive { written: Vec::new(), left: Some(bytes), is_damaged: false }
    }

    /// Whether parts are taken from it.
    pub fn is_loading(&self) -> bool {
        self.left.is_some()
    }

    /// Writes a part, or takes it; one that cannot be taken stays as it is.
    pub fn part<T: Serialize + DeserializeOwned>(&mut self, part: &mut T) {
        let Some(left) = self.left else {
            let written = std::mem::take(&mut self.written);
            self.written = postcard::to_extend(part, written).expect("a part has a length");
            return;
        };
        match postcard::take_from_bytes(left) {
            Ok((found, rest)) => (*part, self.left) = (found, Some(rest)),
            Err(_) => self.is_damaged = true,
        }
    }

    /// Writes the pages of a table that are not all zeros, or takes them into one that is.
    pub fn table(&mut self, table: &mut [u8]) {
        // The table of a new drive is not looked at: memory that was never touched stays so.
        let mut used: Vec<bool> = match self.is_loading() {
            true => Vec::new(),
            false => table.chunks(PAGE_BYTES).map(is_used).collect(),
        };
        self.part(&mut used);
        self.is_damaged |= used.len() != table.len().div_ceil(PAGE_BYTES);
        for (page, _) in table.chunks_mut(PAGE_BYTES).zip(used).filter(|(_, used)| *used) {
            match self.left.map(|left| left.split_at_checked(page.len())) {
                None => self.written.extend_from_slice(page),
                Some(Some((found, rest))) => {
                    page.copy_from_slice(found);
                    self.left = Some(rest);
                }
                Some(None) => self.is_damaged = true,
            }
        }
    }

    /// Takes a part for damaged unless it is sound.
    pub fn refuse_unless(&mut self, is_sound: bool) {
        self.is_damaged |= !is_sound;
    }

    /// Returns the bytes that were written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.written
    }

    /// Errors if a part could not be taken, or bytes are left.
    pub fn check(&self) -> Result<(), UserError> {
        match self.is_damaged || self.left.is_some_and(|left| !left.is_empty()) {
            true => Err(UserError::new("it is not of this drive; save it anew")),
            false => Ok(()),
        }
    }
}

/// Writes these parts to an archive, or takes them from it, in their order.
#[macro_export]
macro_rules! parts {
    ($archive:expr; $($part:expr),+ $(,)?) => {
        $($archive.part(&mut $part);)+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(archive: &mut Archive, number: &mut u64, table: &mut [u8], names: &mut Vec<String>) {
        parts!(archive; *number);
        archive.table(table);
        parts!(archive; *names);
    }

    #[test]
    fn what_was_written_is_taken_back() {
        let mut saved = Archive::saving(Vec::new());
        pass(&mut saved, &mut 300, &mut [7; 9], &mut vec!["a".to_owned()]);
        let bytes = saved.into_bytes();
        let (mut number, mut table, mut names) = (0, [0; 9], Vec::new());
        let mut loaded = Archive::loading(&bytes);
        pass(&mut loaded, &mut number, &mut table, &mut names);
        loaded.check().expect("all of it was taken");
        assert_eq!((number, table, names), (300, [7; 9], vec!["a".to_owned()]));
        for wrong in [&bytes[..bytes.len() - 1], &[bytes.clone(), vec![0]].concat()] {
            let mut loaded = Archive::loading(wrong);
            pass(&mut loaded, &mut 0, &mut [0; 9], &mut Vec::new());
            assert!(loaded.check().is_err(), "{wrong:?}");
        }
    }
}
