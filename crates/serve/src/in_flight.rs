//! Unanswered commands: waiting for admission, in the model, or waiting for the disk.

use reprieve_base::UserError;

use crate::admission::{Admission, Admitted};
use crate::command::Command;
use crate::drive::{Done, Drive};
use crate::slots::{Key, Slots};

/// The unanswered commands of all clients.
pub(crate) struct InFlight {
    pub(crate) commands: Slots<Command>,
    pub(crate) admission: Admission,
    /// Commands that the model has completed and the disk has not.
    pub(crate) unsafe_commands: Vec<Key>,
    /// Commands without a request in the model.
    pub(crate) not_modelled: Vec<Key>,
    /// Buffer for the model's completions.
    pub(crate) done: Vec<Done>,
}

impl InFlight {
    pub(crate) fn new() -> InFlight {
        InFlight {
            commands: Slots::new(),
            admission: Admission::default(),
            unsafe_commands: Vec::new(),
            not_modelled: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Submits requests within the limits of the model.
    pub(crate) fn admit(&mut self, drive: &mut Drive) -> Result<(), UserError> {
        while let Some(Admitted { command, request, is_last }) = self.admission.next() {
            let number = drive.submit(request, command)?;
            let entry = self.commands.get_mut(command).expect("it waits for its turn");
            entry.left += 1;
            entry.is_whole = is_last;
            if drive.recorder.is_some() {
                entry.numbers.push(number);
            }
        }
        Ok(())
    }

    /// Cancels the commands of a client that were not submitted in full; returns their number.
    pub(crate) fn leave(&mut self, client: Key, drive: &mut Drive) -> u64 {
        let mut cancelled = 0;
        for command in self.admission.leave(client) {
            let entry = self.commands.get_mut(command).expect("it waits");
            entry.is_whole = true;
            cancelled += 1;
            if entry.left == 0 {
                let entry = self.commands.remove(command).expect("just seen");
                drive.unanswered(&entry.numbers);
            }
        }
        cancelled
    }
}
