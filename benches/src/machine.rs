//! What the operating system says about this machine and this process. Zero where it says nothing.

use std::fs;
use tacit_mpc::Link;

/// The largest resident memory of this process since its start, in bytes.
pub fn peak_memory() -> u64 {
    memory("VmHWM:")
}

/// The resident memory of this process now, in bytes.
pub fn resident_memory() -> u64 {
    memory("VmRSS:")
}

fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

/// The processor time of this process: to the nanosecond where all its threads live, else to 10 ms, those that have
/// ended included.
pub fn cpu_seconds() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanos = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    let present = nanos.sum::<u64>() as f64 / 1e9;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = behind_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    present.max(ticks.sum::<f64>() / 100.0)
}

/// The loopback as a link of `bandwidth` bytes a second.
pub fn link(bandwidth: f64) -> Link {
    Link { latency: 20e-6, bandwidth }
}

/// The mean number of runnable threads over the last minute.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}
