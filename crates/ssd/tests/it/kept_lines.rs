//! MBM with lines that it keeps, against MBM that looks at all that waits at every instant.

use reprieve_base::{Stream, Time};

use reprieve_config::{self as scenario, Scenario, Sources};
use reprieve_policy::dispatch::{Dispatcher, DriveView, Mbm};
use reprieve_ssd::{Ssd, registries};

/// The same policy, that remembers nothing of what waits.
struct Forgetful {
    mbm: Mbm,
    at: Option<Time>,
}

impl Dispatcher for Forgetful {
    fn joins_requests(&self) -> bool {
        self.mbm.joins_requests()
    }

    fn rewrites(&self) -> bool {
        self.mbm.rewrites()
    }

    fn rewrite(&mut self) -> Option<u32> {
        self.mbm.rewrite()
    }

    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        if self.at != Some(drive.now()) {
            self.at = Some(drive.now());
            self.mbm.forget();
        }
        self.mbm.place(drive)
    }

    fn visit(&mut self, dies: &mut [u32], drive: &dyn DriveView) {
        self.mbm.visit(dies, drive);
    }
}

/// Draws scenarios.
struct Draw(Stream);

impl Draw {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.below(of.len() as u64) as usize]
    }

    fn shape(&mut self) -> String {
        let (chips, dies) = (self.one(&["1", "2"]), 1 + self.0.below(2));
        let dies = chips.parse::<u64>().expect("a number") * dies;
        let wordline = self.one(&["", "", "[timing]\nwordline_pages = 2\n"]);
        format!(
            "[geometry]\nchannels = {}\ndies_per_channel = {dies}\nchips_per_channel = {chips}\n\
             planes_per_die = {}\nblocks_per_plane = {}\npages_per_block = {}\n\
             page_bytes = 4096\n[parallelism]\nmulti_plane = \"{}\"\n{wordline}",
            1 + self.0.below(4),
            1 + self.0.below(4),
            20 + self.0.below(16),
            4 * (1 + self.0.below(4)),
            self.one(&["none", "page", "page", "block"]),
        )
    }

    fn share(&mut self) -> String {
        let limit = self.one(&["exact", "exact", "printed", "none"]);
        if limit == "none" {
            return "mbm_channel_limit = \"none\"\n".to_string();
        }
        format!(
            "mbm_channel_limit = \"{limit}\"\nmbm_share_when = \"{}\"\n\
             mbm_share_writes = \"{}\"\nmbm_share_read_weight = {}\nmbm_share_collection = {}\n",
            self.one(&["instant", "arrival"]),
            self.one(&["under-way", "all"]),
            self.one(&["0", "1", "5"]),
            self.one(&["false", "true"]),
        )
    }

    fn areas(&mut self) -> String {
        let moves = self.one(&["either", "channels", "transactions", "none"]);
        let when = match moves {
            "none" => String::new(),
            _ => format!("mbm_redistribution_when = \"{}\"\n", self.one(&["any-time", "spare"])),
        };
        format!(
            "mbm_read_threshold_pages = {}\nmbm_read_area_bytes = {}\n\
             mbm_read_area_end = \"{}\"\nmbm_redistribution = \"{moves}\"\n{when}\
             mbm_read_areas = \"{}\"\n",
            self.one(&["1", "2", "4"]),
            self.one(&["4096", "65536", "1048576"]),
            self.one(&["short-read", "short-read", "never"]),
            self.one(&["spread", "spread", "even"]),
        )
    }

    fn scheduling(&mut self) -> String {
        format!(
            "[scheduling]\ndispatch = \"mbm\"\n{}{}mbm_ties = \"{}\"\nmbm_alignment = \"{}\"\n\
             mbm_first_chip = \"{}\"\n",
            self.share(),
            self.areas(),
            self.one(&["rotating", "in-order"]),
            self.one(&["lagging", "largest"]),
            self.one(&["channel", "instant", "request"]),
        )
    }

    fn load(&mut self) -> String {
        format!(
            "[buffer]\nbytes = 4194304\nacknowledge = \"{}\"\n[workload]\ngenerator = \"mixed\"\n\
             requests = 500\nread_fraction = {}\nrequest_bytes = [[4096, 2], [8192, 1], \
             [{}, 1]]\nalign_bytes = 4096\naddresses = \"hot-cold\"\nhot_share = 0.2\n\
             hot_fraction = 0.8\narrivals = \"{}\n",
            self.one(&["through", "through", "back"]),
            self.one(&["0.1", "0.4", "0.6"]),
            self.one(&["16384", "24576"]),
            self.one(&["closed\"\nqueue_depth = 8", "closed\"\nqueue_depth = 200"]),
        )
    }

    fn scenario(&mut self, seed: u64) -> Scenario {
        let policy = self.one(&["rps", "pes-ipc"]);
        let ftl = format!(
            "[ftl]\nover_provisioning = 0.5\nprecondition = \"sequential\"\ngc_stream = \"{}\"\n\
             gc_preemptible = {}\n",
            self.one(&["shared", "separate"]),
            self.one(&["false", "true"]),
        );
        let parts = [self.shape(), ftl, self.scheduling(), self.load()].concat();
        let text =
            format!("seed = {seed}\ndevice = \"fast12-slc\"\npolicy = \"{policy}\"\n{parts}");
        let sources = Sources { text: &text, path: "test.toml", sets: &[] };
        scenario::load(&sources, registries()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// When each request was complete, and the summary.
fn run(mut ssd: Ssd) -> (Vec<(i64, i64)>, serde_json::Value) {
    while ssd.step(100_000).expect("a workload without bad rows") {}
    let log = ssd.take_log();
    (log.id.iter().copied().zip(log.completion_ns.iter().copied()).collect(), ssd.summary())
}

#[test]
fn lines_that_are_kept_decide_as_lines_made_anew() {
    let mut draw = Draw(Stream::new(1, "test.dispatch", 0));
    let mut differs = 0;
    for seed in 0..120 {
        let scenario = draw.scenario(seed);
        let forgetful = Forgetful { mbm: Mbm::new(&scenario.scheduling.dispatch), at: None };
        let others = Box::new(forgetful);
        let afresh = Ssd::with_dispatcher(scenario.clone(), true, others).expect("it fits");
        let kept = run(Ssd::new(scenario.clone(), true).expect("it fits"));
        assert_eq!(kept, run(afresh), "{}", scenario::print(&scenario));
        differs += u32::from(kept.1["device"]["redistributed_pages"].as_u64() > Some(0));
    }
    assert!(differs > 20, "long reads are to mark areas, and {differs} drives had any");
}
