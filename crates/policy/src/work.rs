//! Interface of the flash to the layer above it, so that neither has to know the other.

use reprieve_base::{PageAddress, Time};

use crate::txn::{Kind, Txn};

/// Need of a die for garbage collection.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum GcNeed {
    /// None.
    None,
    /// In idle time.
    Idle,
    /// Before the host's next write, as far as the rate goes or because a block has failed.
    Due,
    /// A plane has no room for host writes until a step is done.
    Urgent,
    /// A victim is being collected without preemption.
    Exclusive,
}

/// Questions of the flash to the layer above.
pub trait Work {
    /// Names the physical page of a program that is about to start; false if its plane has no room.
    fn place(&mut self, txn: &mut Txn) -> bool;

    /// Assigns the page of a further program of the wordline whose first page `place` has assigned;
    /// false if it is another's.
    fn place_beside(&mut self, txn: &mut Txn, first: PageAddress, number: u32) -> bool;

    /// The page that `place` would name for a program that could start now; `None`: it could not.
    fn next_page(&self, txn: &Txn) -> Option<PageAddress>;

    /// Renews the address of a queued read whose page may have moved.
    fn locate(&mut self, txn: &mut Txn);

    /// Where that would be.
    fn located(&self, txn: &Txn) -> PageAddress;

    /// How much the die needs garbage collection.
    fn gc_need(&mut self, die: u32) -> GcNeed;

    /// Returns the next step of garbage collection on the die, if there is a useful one.
    fn gc_next(&mut self, die: u32) -> Option<Kind>;

    /// Free blocks of the plane of an address; `None` without a list of them.
    fn free_blocks(&self, die: u32, plane: u32) -> Option<u32>;

    /// The kind of the step that it would be, without choosing a victim; of a die that needs it.
    fn gc_peek(&self, die: u32) -> Kind;

    /// Takes that step.
    fn gc_take(&mut self, die: u32, now: Time) -> Txn;

    /// The program of a further page of the wordline of which one was just taken; `None`: the rest
    /// is padded.
    fn gc_take_page(&mut self, first: &Txn, number: u32, now: Time) -> Option<Txn>;

    /// With parallel collection on the planes of a die: takes a step of the kind of the last one,
    /// for the same command, on another plane.
    fn gc_take_beside(&mut self, first: &Txn, now: Time) -> Option<Txn>;

    /// With parallel collection and independent plane reads: returns the plane in its die of the
    /// next step, if that is a read.
    fn gc_next_read(&mut self, die: u32) -> Option<u32>;

    /// Takes an erase that can go together with one just taken, on another plane of the die; with
    /// `block` only of the block of that number.
    fn gc_take_erase(&mut self, die: u32, block: Option<u32>, now: Time) -> Option<Txn>;
}

/// Questions of the flash to the layer above where there is a dispatcher.
pub trait PlaneQueries {
    /// Whether a plane, counted over the drive, can hold one more page and still be collected.
    fn can_take(&self, plane: u32) -> bool;

    /// Offset in its block of the page that a plane programs next.
    fn next_page(&self, plane: u32) -> u32;

    /// The block of that page; `None`: no block is free.
    fn next_block(&self, plane: u32) -> Option<u32>;

    /// Returns the next page for a program with a plane; `None`: its plane has no room.
    fn page_to_come(&self, txn: &Txn) -> Option<PageAddress>;

    /// Whether a die collects a block.
    fn collects(&self, die: u32) -> bool;

    /// Gives a write its plane.
    fn assign(&mut self, txn: &mut Txn, plane: u32);
}
