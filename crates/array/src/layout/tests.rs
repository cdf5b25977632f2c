//! Plans of all writes and reads of small stripes, beside linear algebra: the reads must suffice.
//!
//! Parity is a Cauchy code over a prime field, of which any chunks as many as have data give all.
//! A chunk that is read is a row of that code; a value follows from reads if its row is in their
//! span.

use reprieve_base::SECTOR_BYTES;

use super::{Layout, Part};
use crate::options::Options;

const PRIME: u64 = 1009;
const CHUNK_SECTORS: u64 = 3;

fn inverse(value: u64) -> u64 {
    (1..PRIME).find(|other| value * other % PRIME == 1).expect("it is not zero")
}

/// The rank of rows over the field.
fn rank(mut rows: Vec<Vec<u64>>) -> usize {
    let mut done = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) = (done..rows.len()).find(|row| rows[*row][column] > 0) else { continue };
        rows.swap(done, pivot);
        let over = inverse(rows[done][column]);
        for row in done + 1..rows.len() {
            let factor = rows[row][column] * over % PRIME;
            for place in 0..rows[row].len() {
                let less = factor * rows[done][place] % PRIME;
                rows[row][place] = (rows[row][place] + PRIME - less) % PRIME;
            }
        }
        done += 1;
    }
    done
}

fn follows(value: &[u64], from: &[Vec<u64>]) -> bool {
    rank(from.to_vec()) == rank([from, &[value.to_vec()]].concat())
}

/// A layout of one stripe after another, and its code.
struct Code {
    layout: Layout,
    data: usize,
    drives: usize,
    failed: Vec<usize>,
}

impl Code {
    fn new(data: usize, parity: usize, failed: Vec<usize>) -> Code {
        let options = Options {
            drives: data + parity,
            parity,
            chunk_bytes: CHUNK_SECTORS * SECTOR_BYTES,
            failed: failed.clone(),
            ..Options::default()
        };
        options.check().expect("good options");
        Code { layout: Layout::new(&options), data, drives: data + parity, failed }
    }

    /// The row of a column of the stripe.
    fn row(&self, column: usize) -> Vec<u64> {
        let of_parity = |data: usize| inverse((column + 100 + data) as u64);
        let of = |data| match column < self.data {
            true => u64::from(data == column),
            false => of_parity(data),
        };
        (0..self.data).map(of).collect()
    }

    /// The columns of which operations have a sector of the stripe's chunks.
    fn columns(&self, stripe: u64, parts: &[Part], sector: u64) -> Vec<usize> {
        let at_byte = (stripe * CHUNK_SECTORS + sector) * SECTOR_BYTES;
        let has = |part: &&Part| (part.at_byte..part.at_byte + part.bytes).contains(&at_byte);
        let column = |part: &Part| {
            let same = |column: &usize| self.layout.drive(stripe, *column) == part.drive;
            (0..self.drives).find(same).expect("a drive has a column of each stripe")
        };
        parts.iter().filter(has).map(column).collect()
    }

    fn rows(&self, stripe: u64, parts: &[Part], sector: u64) -> Vec<Vec<u64>> {
        self.columns(stripe, parts, sector).into_iter().map(|column| self.row(column)).collect()
    }

    fn check_write(&self, stripe: u64, from: u64, to: u64) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let bytes = from * SECTOR_BYTES..to * SECTOR_BYTES;
        self.layout.write(stripe, &bytes, &mut reads, &mut writes);
        let all = reads.iter().chain(&writes);
        assert!(all.clone().all(|part| !self.failed.contains(&part.drive)));
        assert!(reads.len() <= self.data);
        for sector in 0..CHUNK_SECTORS {
            let is_new =
                |column: &usize| (from..to).contains(&(*column as u64 * CHUNK_SECTORS + sector));
            let mut written = self.columns(stripe, &writes, sector);
            written.sort();
            let is_alive =
                |column: &usize| !self.failed.contains(&self.layout.drive(stripe, *column));
            let data = (0..self.data).filter(|column| is_new(column) && is_alive(column));
            let parity = (self.data..self.drives).filter(is_alive);
            let is_changed = (0..self.data).any(|column| is_new(&column));
            if is_changed {
                assert_eq!(written, data.chain(parity.clone()).collect::<Vec<_>>());
            }
            let known = self.rows(stripe, &reads, sector);
            for parity in written.into_iter().filter(|column| *column >= self.data) {
                let mut old = self.row(parity);
                (0..self.data).filter(is_new).for_each(|column| old[column] = 0);
                // Of data that is replaced, reads may tell the old value.
                assert!(follows(&old, &known), "{:?} {stripe} {from}..{to}", self.failed);
            }
        }
    }

    fn check_read(&self, stripe: u64, column: usize) {
        let mut reads = Vec::new();
        let reader = self.layout.reader(stripe, column);
        let left = self.drives - 1 - self.failed.iter().filter(|drive| **drive != reader).count();
        let span = SECTOR_BYTES..2 * SECTOR_BYTES;
        let can = self.layout.around(stripe, column, &span, |_| false, &mut reads);
        assert_eq!(can, left >= self.data);
        assert!(
            reads.iter().all(|read| read.drive != reader && !self.failed.contains(&read.drive))
        );
        assert_eq!(reads.len(), if can { self.data } else { 0 });
        assert_eq!(can, follows(&self.row(column), &self.rows(stripe, &reads, 1)));
    }
}

#[test]
fn reads_suffice_for_every_write_and_for_reads_around_a_drive() {
    for (data, parity) in [(1, 1), (2, 1), (4, 1), (2, 2), (3, 2), (4, 2), (3, 3)] {
        let drives = data + parity;
        for lost in 0u32..1 << drives {
            if lost.count_ones() as usize > parity {
                continue;
            }
            let failed = (0..drives).filter(|drive| lost >> drive & 1 > 0).collect();
            let code = Code::new(data, parity, failed);
            let sectors = data as u64 * CHUNK_SECTORS;
            for stripe in 0..drives as u64 {
                (0..data).for_each(|column| code.check_read(stripe, column));
                for from in 0..sectors {
                    (from + 1..=sectors).for_each(|to| code.check_write(stripe, from, to));
                }
            }
        }
    }
}
