//! The choice of instructions.

use super::lanes::{Job, Portable};

/// Runs a loop with the widest multiplications of this processor.
#[inline]
pub(super) fn run(job: impl Job) {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = super::wide::Wide::detect() {
        return wide.run(job);
    }
    job.run::<Portable>();
}
