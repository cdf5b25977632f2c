//! Job files of fio (Axboe, Flexible I/O Tester) as loads: one `FioJob` for each clone of a job.

mod draft;
mod job;
mod lines;
mod options;
mod recorded;
mod setters;
#[cfg(test)]
mod tests;
mod units;
mod variables;
mod zoned_drive;
mod zones;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, io};

use reprieve_base::{SECTOR_BYTES, UserError};

use draft::Draft;
pub use job::{DriveZones, FioJob, JobCourse, JobOps, JobOrder, JobRate, JobThink, JobZone};
use lines::{Part, Setting};
pub use recorded::fio_options;
use units::Extent;
use variables::Environment;

/// The jobs of a fio file on a drive of `capacity_bytes`, in the order of the file.
///
/// Errors with file and line at the first option that is unknown or whose value is wrong.
pub fn fio_jobs(path: &Path, capacity_bytes: u64) -> Result<Vec<FioJob>, UserError> {
    let file = path.display().to_string();
    let text = crate::source::open(path).and_then(|(content, _)| io::read_to_string(content));
    let text =
        text.map_err(|error| UserError::new(format!("cannot be read: {error}")).at(&file))?;
    parse(&text, &file, capacity_bytes, &|name| env::var(name).ok())
}

/// Reads a file's text.
fn parse(
    text: &str,
    file: &str,
    capacity_bytes: u64,
    environment: Environment,
) -> Result<Vec<FioJob>, UserError> {
    let mut common = Section::default();
    let mut jobs: Vec<FioJob> = Vec::new();
    let mut group = 0;
    for part in lines::parts(text, file)? {
        if part.name == "global" {
            common.read(&part, file, environment)?;
            continue;
        }
        let mut section = common.clone();
        section.read(&part, file, environment)?;
        if let Some(other) = jobs.iter().find(|other| other.name == part.name) {
            let what = format!("[{}]: a job has this name already; give each its own", other.name);
            return Err(UserError::new(what).at(format!("{file}:{}", part.line)));
        }
        group += u32::from(section.draft.stonewall && !jobs.is_empty());
        let fit = JobFit { section: &section, part: &part, file, capacity_bytes };
        for clone in 0..section.draft.clones {
            jobs.push(fit.job(clone, group)?);
        }
    }
    if jobs.is_empty() {
        let what = "has no job; must have a section such as [name] besides [global]";
        return Err(UserError::new(what).at(file));
    }
    Ok(jobs)
}

/// The options of a section, and its place.
#[derive(Clone, Debug, Default)]
struct Section {
    draft: Draft,
    written: BTreeMap<String, Setting>,
}

impl Section {
    fn read(&mut self, part: &Part, file: &str, environment: Environment) -> Result<(), UserError> {
        for setting in &part.settings {
            let value = variables::expanded(&setting.name, &setting.value, environment)
                .map_err(|what| fault(setting, &what, file))?;
            let setting = Setting { value, ..setting.clone() };
            self.draft
                .set(&setting.name, &setting.value)
                .map_err(|what| fault(&setting, &what, file))?;
            self.written.insert(setting.name.clone(), setting);
        }
        Ok(())
    }
}

fn fault(setting: &Setting, what: &str, file: &str) -> UserError {
    let Setting { name, value, line } = setting;
    let written = if value.is_empty() { name.clone() } else { format!("{name} = {value}") };
    UserError::new(format!("{written}: {what}")).at(format!("{file}:{line}"))
}

/// A section on its way to a drive.
struct JobFit<'a> {
    section: &'a Section,
    part: &'a Part,
    file: &'a str,
    capacity_bytes: u64,
}

impl JobFit<'_> {
    /// The error about an option, at its line if it was given, else at the job's.
    fn fault(&self, names: &[&str], what: &str) -> UserError {
        match names.iter().find_map(|name| self.section.written.get(*name)) {
            Some(setting) => fault(setting, what, self.file),
            None => {
                let what = format!("[{}]: {}: {what}", self.part.name, names[0]);
                UserError::new(what).at(format!("{}:{}", self.file, self.part.line))
            }
        }
    }

    fn job(&self, clone: u32, group: u32) -> Result<FioJob, UserError> {
        let draft = &self.section.draft;
        if draft.is_synchronous && draft.depth > 1 {
            let what = "the engine has one request outstanding; must be 1, or ioengine one such \
                        as libaio or io_uring";
            return Err(self.fault(&["iodepth"], what));
        }
        let mut sizes = draft.all_sizes();
        let (start_bytes, mut region_bytes) = self.region(&sizes, clone)?;
        let drive_zones = self.drive_zones(&mut sizes, start_bytes, &mut region_bytes)?;
        let order = draft.order(region_bytes);
        self.zones(&order, &sizes, region_bytes)?;
        let think = JobThink { time: draft.think, every_requests: draft.think_blocks };
        Ok(FioJob {
            name: self.part.name.clone(),
            clone,
            ops: draft.ops(),
            order,
            sizes,
            start_bytes,
            region_bytes,
            amount_bytes: self.amount_bytes(region_bytes)?,
            requests_max: draft.requests_max,
            queue_depth: draft.depth,
            rates: draft.rates,
            poisson: draft.poisson,
            flush_every_writes: draft.flush_every,
            fua: draft.fua,
            zones: drive_zones,
            course: JobCourse {
                group,
                delay: draft.delay,
                ramp: draft.ramp,
                runtime: draft.runtime,
                think: (think.time.ns() > 0).then_some(think),
            },
        })
    }

    /// First byte and length of the region of a clone.
    fn region(&self, sizes: &[Vec<(u32, f64)>; 3], clone: u32) -> Result<(u64, u64), UserError> {
        let draft = &self.section.draft;
        let (least, longest) = extremes(draft.ops(), sizes);
        let capacity_bytes = self.capacity_bytes;
        // As fio has it: a share of the drive begins at the next place of a request.
        let place = |extent: Extent| match extent {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(_) => extent.of(capacity_bytes).next_multiple_of(least),
        };
        let step = u64::from(clone).checked_mul(place(draft.offset_increment));
        let start = step.and_then(|step| step.checked_add(place(draft.offset)));
        let Some(start) = start.filter(|start| *start < capacity_bytes) else {
            let what = format!("is past the end of the drive; must be below {capacity_bytes}");
            let name = if clone > 0 { "offset_increment" } else { "offset" };
            return Err(self.fault(&[name], &what));
        };
        if start % SECTOR_BYTES != 0 {
            return Err(self.fault(&["offset"], "must be a multiple of 512 bytes"));
        }
        let rest = capacity_bytes - start;
        let Some(size) = draft.size else { return self.whole(start, rest) };
        let size = size.of(capacity_bytes);
        if size > rest {
            let what = format!(
                "is more than the drive has behind offset = {start}; must be at most {rest} bytes"
            );
            return Err(self.fault(&["size"], &what));
        }
        // Only whole places count, as fio has it.
        let size = size - size % least;
        if size < longest {
            let what = format!("is less than a request of {longest} bytes; must be at least that");
            return Err(self.fault(&["size"], &what));
        }
        Ok((start, size))
    }

    /// Without a size the rest of the drive behind the offset, if a time limits the job.
    fn whole(&self, start: u64, rest: u64) -> Result<(u64, u64), UserError> {
        if self.section.draft.runtime.is_some() {
            return Ok((start, rest));
        }
        let what = "is missing; must be given where runtime is not, such as size = 1g or 50%";
        Err(self.fault(&["size"], what))
    }

    /// The bytes after which the job ends.
    fn amount_bytes(&self, region_bytes: u64) -> Result<Option<u64>, UserError> {
        let draft = &self.section.draft;
        if draft.time_based {
            if draft.runtime.is_some() {
                return Ok(None);
            }
            return Err(self.fault(&["time_based"], "never ends without runtime; must have one"));
        }
        let once = draft.io_size.map_or(region_bytes, |size| size.of(self.capacity_bytes));
        let all = once.checked_mul(draft.loops);
        let all = all.ok_or_else(|| self.fault(&["loops"], "makes more than 64 bits of bytes"))?;
        if all == 0 {
            return Err(self.fault(&["io_size", "io_limit"], "must be above 0"));
        }
        Ok(Some(all))
    }

    /// Refuses zones that end behind the region, or have no room for a request.
    fn zones(
        &self,
        order: &JobOrder,
        sizes: &[Vec<(u32, f64)>; 3],
        region_bytes: u64,
    ) -> Result<(), UserError> {
        let JobOrder::Zoned(zones) = order else { return Ok(()) };
        let ops = self.section.draft.ops();
        let (least, longest) = extremes(ops, sizes);
        for zone in ops.kinds().iter().flat_map(|kind| &zones[*kind]) {
            let (from, end) = (zone.from_sector * SECTOR_BYTES, zone.end_sector * SECTOR_BYTES);
            if end > region_bytes {
                let what = format!(
                    "its zones take {end} bytes; must be at most the {region_bytes} of the region"
                );
                return Err(self.fault(&["random_distribution"], &what));
            }
            if from.next_multiple_of(least) + longest > end {
                let what = format!("each zone must have room for a request of {longest} bytes");
                return Err(self.fault(&["random_distribution"], &what));
            }
        }
        Ok(())
    }
}

/// The shortest and the longest request of a job.
fn extremes(ops: JobOps, sizes: &[Vec<(u32, f64)>; 3]) -> (u64, u64) {
    let used = ops.kinds().iter().flat_map(|kind| &sizes[*kind]).map(|(bytes, _)| *bytes);
    let all: Vec<u64> = used.map(u64::from).collect();
    let least = all.iter().min().expect("each kind of request has a size");
    (*least, *all.iter().max().expect("each kind of request has a size"))
}
