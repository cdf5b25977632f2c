//! Observers of one's own, calculated by hand on the rig.
//!
//! The SLC part: erases of 1500 and 8, resets of 4.

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_ssd::observe::LongestEraseWait;
use reprieve_ssd::rig::{self, RigCommand, RigOp};
use reprieve_ssd::{registries, scenario};

fn longest_wait(policy: &str) -> Dur {
    let sets = [format!("policy={policy}")];
    let scenario = scenario::load_rig("fast12-slc", &sets, registries()).expect("a good scenario");
    let command = |arrival_us: u64, op, block| RigCommand {
        arrival: Time::from_ns(arrival_us * 1000),
        op,
        at: PageAddress { plane: 0, block, page: 0 },
    };
    let commands = [
        command(0, RigOp::Read, 1),
        command(50, RigOp::Erase, 0),
        command(150, RigOp::Read, 1),
        command(1500, RigOp::Read, 1),
    ];
    let waits = LongestEraseWait::default();
    let asked = rig::Asked { observer: Some(Box::new(waits.clone())), ..Default::default() };
    rig::run_with(&scenario, &commands, asked).expect("legal commands");
    waits.longest()
}

#[test]
fn the_longest_wait_of_a_read_for_an_erase_is_counted() {
    // The erase runs from 50 to 1558. The read of 150 waits for 1408 of it, that of 1500 for 58.
    assert_eq!(longest_wait("fifo"), Dur::from_us(1408));
    // Suspended at once: 4 of it.
    assert_eq!(longest_wait("pes-ipc"), Dur::from_us(4));
}
