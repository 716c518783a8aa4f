//! Cutting the work of a call into batches, each of which uses a bounded number of OTs in one round.

use super::stock::BATCH;

/// Rows of a job that are done together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Which job.
    pub job: usize,
    /// Its first row: a multiple of 64.
    pub start: usize,
    /// How many rows.
    pub rows: usize,
}

/// A job: its rows, and the OTs that one row takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub rows: usize,
    pub ots: usize,
}

impl Job {
    /// The OTs of so many rows: whole words of choice bits.
    pub fn ots_of(&self, rows: usize) -> usize {
        (rows * self.ots).next_multiple_of(64)
    }
}

/// The jobs in order, cut into batches of at most [`BATCH`] OTs, or of 64 rows where those take more.
pub(super) fn batches(jobs: &[Job]) -> Vec<Vec<Segment>> {
    let mut out: Vec<Vec<Segment>> = Vec::new();
    let mut left = 0;
    for (number, job) in jobs.iter().enumerate() {
        let (mut start, word) = (0, job.ots_of(64));
        while start < job.rows {
            if left < word.min(BATCH) {
                out.push(vec![]);
                left = BATCH;
            }
            let rows = (job.rows - start).min((left / word).max(1) * 64);
            out.last_mut().expect("a batch is open").push(Segment { job: number, start, rows });
            left = left.saturating_sub(job.ots_of(rows).next_multiple_of(64));
            start += rows;
        }
    }
    out
}

/// The OTs of a batch.
pub(super) fn need(jobs: &[Job], batch: &[Segment]) -> usize {
    batch.iter().map(|segment| jobs[segment.job].ots_of(segment.rows)).sum()
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Job, batches, need};

    #[test]
    fn every_row_is_done_once_and_batches_are_bounded() {
        let jobs = [
            Job { rows: 3, ots: 64 },
            Job { rows: BATCH / 20, ots: 32 },
            Job { rows: 0, ots: 1 },
            Job { rows: 130, ots: BATCH / 70 },
        ];
        let mut next = [0; 4];
        for batch in batches(&jobs) {
            assert!(need(&jobs, &batch) <= BATCH);
            for segment in batch {
                assert_eq!((segment.start, segment.start % 64), (next[segment.job], 0));
                next[segment.job] += segment.rows;
            }
        }
        assert_eq!(next, jobs.map(|job| job.rows));
    }

    #[test]
    fn rows_that_take_more_than_a_batch_still_go() {
        let sizes: Vec<_> = batches(&[Job { rows: 100, ots: BATCH }]).iter().map(|b| b[0].rows).collect();
        assert_eq!(sizes, [64, 36]);
    }
}
