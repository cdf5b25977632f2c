//! A run over time, as columns for Python.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reprieve_ssd::TimeSeries;
use reprieve_ssd::stats::{BUCKETS, Bin, Finished, SAMPLED, upper_end};
use reprieve_ssd::txn::PART_NAMES;

/// The kinds of requests, in the order of the model.
const KINDS: [&str; 2] = ["read", "write"];

fn whole(number: u64) -> i64 {
    i64::try_from(number).expect("a run is shorter than 292 years and counts less than 2^63")
}

/// Everything, by name: `bins` has a column for each count, the others are arrays.
pub fn columns<'py>(py: Python<'py>, course: TimeSeries) -> PyResult<Bound<'py, PyDict>> {
    crate::need_numpy(py)?;
    let all = PyDict::new(py);
    all.set_item("bins", bins(py, &course.series)?)?;
    let used = used_buckets(&course.series);
    let upper: Vec<i64> = used.clone().map(|bucket| whole(upper_end(bucket))).collect();
    all.set_item("latency_upper_ns", upper.into_pyarray(py))?;
    for (kind, name) in KINDS.iter().enumerate() {
        let rows = latencies(py, &course.series, kind, used.clone())?;
        all.set_item(format!("{name}_latency_counts"), rows)?;
        let classes = &course.series.classes[kind][used.clone()];
        let parts = classes.iter().flat_map(|class| class.parts_ns.map(|ns| ns as f64)).collect();
        let shape = [classes.len(), PART_NAMES.len()];
        let parts: Bound<'py, PyArray2<f64>> = PyArray1::from_vec(py, parts).reshape(shape)?;
        all.set_item(format!("{name}_parts_ns"), parts)?;
    }
    for (name, counts) in ["program_ages", "erase_ages"].iter().zip(course.ages) {
        all.set_item(name, counts.map(whole).to_vec().into_pyarray(py))?;
    }
    let column = |values: Vec<u64>| values.into_iter().map(whole).collect::<Vec<_>>();
    all.set_item("die_busy_ns", column(course.die_busy_ns).into_pyarray(py))?;
    all.set_item("channel_busy_ns", column(course.channel_busy_ns).into_pyarray(py))?;
    let (erases, blocks): (Vec<i64>, Vec<i64>) = course
        .erases
        .into_iter()
        .map(|(erases, blocks)| (i64::from(erases), whole(blocks)))
        .unzip();
    all.set_item("erases", erases.into_pyarray(py))?;
    all.set_item("blocks", blocks.into_pyarray(py))?;
    Ok(all)
}

/// A column for each count of a bin.
fn bins<'py>(py: Python<'py>, series: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let lengths_ns: Vec<i64> = (1..=series.bins.len())
        .map(|count| match count == series.bins.len() {
            true => whole(series.length_ns_last),
            false => whole(series.width_ns),
        })
        .collect();
    let starts =
        (0u64..).take(series.bins.len()).map(|bin| whole(series.begin_ns + bin * series.width_ns));
    columns.set_item("start_ns", starts.collect::<Vec<_>>().into_pyarray(py))?;
    let column = |value: &dyn Fn(&Bin) -> u64| {
        series.bins.iter().map(|bin| whole(value(bin))).collect::<Vec<_>>().into_pyarray(py)
    };
    let ratio = |value: &dyn Fn(&Bin) -> (u128, u64)| {
        let mean =
            |(sum, count): (u128, u64)| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
        series.bins.iter().map(|bin| mean(value(bin))).collect::<Vec<f64>>().into_pyarray(py)
    };
    for (kind, name) in KINDS.iter().enumerate() {
        let of = move |bin: &Bin| bin.completed[kind];
        columns.set_item(format!("{name}_count"), column(&|bin| of(bin).count))?;
        columns.set_item(format!("{name}_bytes"), column(&|bin| of(bin).bytes))?;
        let mean = ratio(&|bin| (of(bin).latency_ns, of(bin).count));
        columns.set_item(format!("{name}_latency_ns_mean"), mean)?;
        let longest = column(&|bin| of(bin).latency_ns_max);
        columns.set_item(format!("{name}_latency_ns_max"), longest)?;
    }
    for (index, name) in SAMPLED.iter().enumerate() {
        columns.set_item(name, column(&|bin| bin.counted[index]))?;
    }
    let open = series.bins.iter().zip(&lengths_ns).map(|(bin, length_ns)| match length_ns {
        0 => 0.0,
        length_ns => bin.open_request_ns as f64 / *length_ns as f64,
    });
    columns.set_item("open_requests_mean", open.collect::<Vec<f64>>().into_pyarray(py))?;
    columns.set_item("open_requests_max", column(&|bin| bin.open_requests_max))?;
    columns.set_item("length_ns", lengths_ns.into_pyarray(py))?;
    Ok(columns)
}

/// From the first non-empty bucket to the last.
fn used_buckets(series: &Finished) -> std::ops::Range<usize> {
    let is_used = |bucket: &usize| series.classes.iter().any(|kind| kind[*bucket].count > 0);
    let first = (0..BUCKETS).find(is_used);
    let last = (0..BUCKETS).rfind(is_used);
    first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
}

/// Requests of a kind by bin and bucket.
fn latencies<'py>(
    py: Python<'py>,
    series: &Finished,
    kind: usize,
    used: std::ops::Range<usize>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let bins = series.bins.len();
    let mut counts = Vec::with_capacity(bins * used.len());
    for bin in 0..bins {
        let first = (2 * bin + kind) * BUCKETS;
        let row = &series.latencies[first + used.start..first + used.end];
        counts.extend(row.iter().map(|count| whole(*count)));
    }
    PyArray1::from_vec(py, counts).reshape([bins, used.len()])
}
