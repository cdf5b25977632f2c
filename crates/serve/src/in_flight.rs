//! Commands under way: what waits for the model, what it has, and what the disk is not done with.

use reprieve_base::UserError;

use crate::admission::{Admission, Admitted};
use crate::command::Command;
use crate::drive::{Done, Drive};
use crate::slots::{Key, Slots};

/// The commands of all clients that are not answered.
pub(crate) struct InFlight {
    pub(crate) commands: Slots<Command>,
    pub(crate) admission: Admission,
    /// Those that the model has completed and the disk has not.
    pub(crate) unsafe_commands: Vec<Key>,
    /// Those that the model has no part in.
    pub(crate) not_modelled: Vec<Key>,
    /// Room for what the model completes at a time.
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

    /// Hands over to the model what it has room for.
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

    /// A client goes: what the model has not begun is not begun. How many commands that cuts short.
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
