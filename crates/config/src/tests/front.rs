//! Sections between host and translation layer: what does not fit each other, and which layer wins.

use super::super::{Host, LimitScope};
use super::{BASE, bad, good};

fn host(sets: &[&str]) -> Host {
    good(BASE, sets).host
}

#[test]
fn a_list_has_an_item_for_each_queue() {
    let weighted = ["host.interface=nvme", "host.queues=2", "host.arbitration=weighted"];
    assert_eq!(
        bad(BASE, &[&weighted[..], &["host.queue_weights=[1, 2, 3]"]].concat()),
        "--set: host.queue_weights = [1, 2, 3]: has 3 items, and host.queues = 2 asks for one for \
         each queue"
    );
    for wrong in ["[]", "[0, 1]", "3", "[1, \"a\"]"] {
        let wrong = format!("host.queue_weights={wrong}");
        let error = bad(BASE, &[&weighted[..], &[wrong.as_str()]].concat());
        assert!(error.ends_with("must be a list of integers from 1 to 65535"), "{error}");
    }
    let strict = ["host.interface=nvme", "host.queues=2", "host.arbitration=strict-priority"];
    let with = |list: &str| {
        let list = format!("host.queue_priorities={list}");
        bad(BASE, &[&strict[..], &[list.as_str()]].concat())
    };
    assert!(
        with("[\"low\"]").contains("has 1 items, and host.queues = 2"),
        "{}",
        with("[\"low\"]")
    );
    let error = with("[\"low\", \"hihg\"]");
    assert!(error.ends_with("a list out of \"urgent\", \"high\", \"medium\", \"low\""), "{error}");
}

#[test]
fn a_key_of_queues_needs_queues() {
    assert_eq!(
        bad(BASE, &["host.queues=2"]),
        "--set: host.queues = 2: only while host.interface is \"nvme\", but by default it is \
         \"direct\""
    );
    let error = bad(BASE, &["host.interface=sata", "host.outstanding=2"]);
    assert!(error.contains("only while host.interface is \"nvme\""), "{error}");
    let error = bad(BASE, &["host.t_command_us=2"]);
    assert!(error.contains("only while host.interface is \"nvme\" or \"sata\""), "{error}");
}

#[test]
fn of_rate_and_generation_the_later_layer_wins() {
    // The device has a rate.
    let pcie = host(&["host.pcie_generation=4"]);
    assert_eq!(pcie.link_bytes_per_s, None);
    assert_eq!(pcie.link_rate_bytes_per_s(), Some(7_876_923_076));
    assert_eq!(host(&[]).link_rate_bytes_per_s(), Some(2_000_000_000));
    assert_eq!(host(&["host.link_bytes_per_s=none"]).link_rate_bytes_per_s(), None);
    let error = bad(BASE, &["host.pcie_generation=4", "host.link_bytes_per_s=5"]);
    assert!(error.contains("host.link_bytes_per_s = 5: contradicts host.pcie_gen"), "{error}");
    let error = bad(BASE, &["host.pcie_generation=4", "host.interface=sata"]);
    assert!(error.contains("only while host.interface is \"direct\" or \"nvme\""), "{error}");
}

#[test]
fn a_footprint_lies_on_the_drive() {
    // 2^24 pages of 4 KiB, of which the user has seven tenths: 11,744,051 pages.
    let capacity = 11_744_051u64 * 4096;
    let start = |bytes: u64| format!("workload.footprint_start_bytes={bytes}");
    let error = bad(BASE, &[&start(capacity)]);
    assert!(error.ends_with(&format!("past the end of the drive; must be below {capacity}")));
    good(BASE, &[&start(capacity - 4096)]);
    let error = bad(BASE, &[&start(capacity - 4096), "workload.footprint_bytes=8192"]);
    assert!(error.ends_with("is more than the user has; must be at most 4096"), "{error}");
    let error = bad(BASE, &[&start(512)]);
    assert!(error.ends_with("must be a multiple of align_bytes = 4096"), "{error}");
}

#[test]
fn watermarks_are_in_order_and_need_a_buffer_that_keeps_pages() {
    let fifo = ["buffer.acknowledge=back", "buffer.replacement=fifo"];
    assert_eq!(
        bad(BASE, &[&fifo[..], &["buffer.low_watermark=0.9"]].concat()),
        "--set: buffer.low_watermark = 0.9: must be at most buffer.high_watermark = 0.8"
    );
    let error = bad(BASE, &[&fifo[..], &["buffer.high_watermark=1"]].concat());
    assert!(error.ends_with("must be a number at least 0 and below 1"), "{error}");
    let error = bad(BASE, &["buffer.replacement=fifo"]);
    assert!(error.contains("only while buffer.acknowledge is \"back\""), "{error}");
    let error = bad(BASE, &["buffer.acknowledge=back", "buffer.flush_idle_us=1"]);
    assert!(error.contains("only while buffer.replacement is \"fifo\" or \"lru\""), "{error}");
}

#[test]
fn packets_and_commands_need_a_link_that_carries_them() {
    let none = "host.link_bytes_per_s=none";
    let payload = "host.pcie_max_payload_bytes=256";
    let error = bad(BASE, &[none, payload]);
    assert!(error.contains("host.pcie_max_payload_bytes = 256: needs a link"), "{error}");
    let error = bad(BASE, &["host.pcie_max_payload_bytes=384"]);
    assert!(error.contains("= 384: must be 128, 256, 512"), "{error}");
    let error = bad(BASE, &["host.pcie_packet_bytes=20"]);
    assert!(error.contains("host.pcie_packet_bytes"), "{error}");
    let crossing = "host.commands_cross_link=true";
    let error = bad(BASE, &["host.interface=nvme", none, crossing]);
    assert!(error.contains("host.commands_cross_link = true: needs a link"), "{error}");
    let error = bad(BASE, &[crossing]);
    assert!(error.contains("host.commands_cross_link"), "{error}");
    good(BASE, &["host.interface=nvme", "host.pcie_generation=4", none, payload, crossing]);
}

#[test]
fn a_link_in_order_is_one_that_carries_data_and_no_commands() {
    let in_order = "host.order=in_order";
    let error = bad(BASE, &["host.link_bytes_per_s=none", in_order]);
    assert!(error.contains("host.order = \"in_order\": needs a link"), "{error}");
    let crossing = ["host.interface=nvme", "host.commands_cross_link=true", in_order];
    let error = bad(BASE, &crossing);
    assert!(error.contains("must be \"free\" with host.commands_cross_link = true"), "{error}");
    for interface in ["direct", "nvme", "sata"] {
        good(BASE, &[&format!("host.interface={interface}"), in_order]);
    }
    let error = bad(BASE, &["host.order=inorder"]);
    assert!(error.contains("\"free\""), "{error}");
}

#[test]
fn a_buffer_without_hits_may_keep_pages_and_have_its_mapping_in_flash() {
    let without = "buffer.read_hits=false";
    for more in ["buffer.replacement=fifo", "buffer.replacement=lru", "ftl.mapping=demand"] {
        good(BASE, &["buffer.acknowledge=back", without, more]);
    }
}

#[test]
fn the_scope_of_a_limit_needs_one() {
    let of_drive = "scheduling.write_queue_limit_scope=drive";
    let error = bad(BASE, &[of_drive]);
    assert!(error.contains("only while scheduling.write_queue_limit is given"), "{error}");
    let limit = "scheduling.write_queue_limit=4";
    assert_eq!(good(BASE, &[limit]).scheduling.write_queue_limit_scope, LimitScope::Die);
    let scenario = good(BASE, &[limit, of_drive]);
    assert_eq!(scenario.scheduling.write_queue_limit_scope, LimitScope::Drive);
}

#[test]
fn weighted_classes_are_three() {
    let classes = [
        "host.interface=nvme",
        "host.arbitration=weighted-classes",
        "host.queue_priorities=[\"low\"]",
    ];
    let error = bad(BASE, &classes);
    assert!(error.contains("host.class_weights"), "{error}");
    let error = bad(BASE, &[&classes[..], &["host.class_weights=[2, 1]"]].concat());
    assert!(error.contains("host.class_weights = [2, 1]: has 2 items; must have 3"), "{error}");
    // Eight bits, of which none means one (section 5.27.1.1): 256 at most.
    let error = bad(BASE, &[&classes[..], &["host.class_weights=[257, 2, 1]"]].concat());
    assert!(error.contains("256"), "{error}");
    good(BASE, &[&classes[..], &["host.class_weights=[256, 2, 1]"]].concat());
}
