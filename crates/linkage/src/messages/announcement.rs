//! The first message of a match: each party's description of itself.
//!
//! | bytes | what |
//! |---|---|
//! | 8, 8, 4 | rows; memory; workers |
//! | 2 + n | the kinds of the key columns |
//! | 2 + n (2 + m) | the names of columns that are shared, each with its length |
//! | 16, 2 + n | the run that it holds results of, and its bins, eight to a byte; 0 for none |

use tacit_psi::binning;

use super::layout::Layout;
use super::{Kind, Message, Misbehaviour, RunName, kind};

/// More rows than any table has that disks hold.
pub const MOST_ROWS: u64 = 1 << 36;

/// More memory than any party has.
pub const MOST_MEMORY: u64 = 1 << 60;

/// More workers than any party has.
pub const MOST_WORKERS: u32 = 1 << 16;

/// One party's announcement.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// Rows of its table.
    pub rows: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// How many bins it can match at once.
    pub workers: u32,
    /// The kinds of its key columns.
    pub kinds: Vec<Kind>,
    /// The names of the columns that it shares.
    pub columns: Vec<String>,
    /// Its results of an earlier run.
    pub resume: Option<Resume>,
}

/// A run that a party holds results of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The run's name.
    pub run: RunName,
    /// Of each bin whether there is a result.
    pub done: Vec<bool>,
}

impl Announcement {
    /// Checks every member against its bounds.
    ///
    /// # Errors
    /// The first member out of bounds.
    pub fn check(&self) -> Result<(), Misbehaviour> {
        let bins = self.resume.as_ref().map_or(1, |resume| resume.done.len());
        let checks = [
            (self.rows <= MOST_ROWS, Misbehaviour::Rows),
            ((1..=MOST_MEMORY).contains(&self.memory), Misbehaviour::Memory),
            ((1..=MOST_WORKERS).contains(&self.workers), Misbehaviour::Workers),
            (self.kinds.len() <= usize::from(u16::MAX), Misbehaviour::Kinds),
            (self.columns.len() <= usize::from(u16::MAX), Misbehaviour::Columns),
            (self.columns.iter().all(|name| name.len() <= usize::from(u16::MAX)), Misbehaviour::Columns),
            (!self.columns.iter().any(|name| name.contains(char::is_control)), Misbehaviour::Columns),
            ((1..=binning::MOST).contains(&bins), Misbehaviour::Bins),
        ];
        checks.into_iter().find(|(fits, _)| !fits).map_or(Ok(()), |(_, what)| Err(what))
    }

    /// Whether both parties hold results of one run in these bins.
    pub fn resumes_with(&self, other: &Self, bins: usize) -> bool {
        match (&self.resume, &other.resume) {
            (Some(mine), Some(theirs)) => mine.run == theirs.run && [mine, theirs].iter().all(|r| r.done.len() == bins),
            _ => false,
        }
    }
}

impl Message for Announcement {
    fn write(&self) -> Vec<u8> {
        let mut bytes = [self.rows, self.memory].map(u64::to_le_bytes).concat();
        bytes.extend_from_slice(&self.workers.to_le_bytes());
        kind::write(&self.kinds, &mut bytes);
        bytes.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        for name in &self.columns {
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
        let (run, done) = self.resume.as_ref().map_or(([0; 16], &[][..]), |resume| (resume.run.0, &resume.done));
        bytes.extend_from_slice(&run);
        bytes.extend_from_slice(&(done.len() as u16).to_le_bytes());
        let packed = |eight: &[bool]| eight.iter().rev().fold(0, |byte, &done| byte << 1 | u8::from(done));
        bytes.extend(done.chunks(8).map(packed));
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour> {
        let mut layout = Layout(bytes);
        let (rows, memory, workers) = (layout.long()?, layout.long()?, u32::from_le_bytes(layout.bytes()?));
        let kinds = kind::read(&mut layout)?;
        let columns = (0..layout.short()?).map(|_| name(&mut layout)).collect::<Result<_, _>>()?;
        let resume = resume(&mut layout)?;
        layout.end()?;
        let told = Self { rows, memory, workers, kinds, columns, resume };
        told.check().map(|()| told)
    }
}

fn name(layout: &mut Layout<'_>) -> Result<String, Misbehaviour> {
    let length = layout.short()?;
    String::from_utf8(layout.slice(length)?.to_vec()).map_err(|_| Misbehaviour::Columns)
}

fn resume(layout: &mut Layout<'_>) -> Result<Option<Resume>, Misbehaviour> {
    let (run, bins) = (RunName(layout.bytes()?), layout.short()?);
    if bins > binning::MOST {
        return Err(Misbehaviour::Bins);
    }
    let packed = layout.slice(bins.div_ceil(8))?;
    let done: Vec<bool> = (0..8 * packed.len()).map(|bin| packed[bin / 8] >> (bin % 8) & 1 == 1).collect();
    if done[bins..].contains(&true) || (bins == 0 && run != RunName([0; 16])) {
        return Err(Misbehaviour::Layout);
    }
    Ok((bins > 0).then(|| Resume { run, done: done[..bins].to_vec() }))
}

#[cfg(test)]
mod tests {
    use super::{Announcement, Kind, Message, Misbehaviour, Resume, RunName};
    use proptest::prelude::*;

    fn honest() -> Announcement {
        Announcement { rows: 10, memory: 1 << 30, workers: 1, kinds: vec![Kind::Text], columns: vec![], resume: None }
    }

    fn read(change: impl FnOnce(&mut Announcement)) -> Result<Announcement, Misbehaviour> {
        let mut told = honest();
        change(&mut told);
        Announcement::read(&told.write())
    }

    #[test]
    fn announcements_that_cannot_be_are_refused() {
        assert_eq!(read(|_| ()), Ok(honest()));
        assert_eq!(read(|told| told.rows = 1 << 60), Err(Misbehaviour::Rows));
        assert_eq!(read(|told| told.memory = 0), Err(Misbehaviour::Memory));
        assert_eq!(read(|told| told.memory = 1 << 61), Err(Misbehaviour::Memory));
        assert_eq!(read(|told| told.workers = 0), Err(Misbehaviour::Workers));
        assert_eq!(read(|told| told.workers = u32::MAX), Err(Misbehaviour::Workers));
        let resume = Some(Resume { run: RunName([1; 16]), done: vec![false; (1 << 14) + 1] });
        assert_eq!(read(|told| told.resume = resume), Err(Misbehaviour::Bins));
    }

    #[test]
    fn bytes_of_another_layout_are_refused() {
        let whole = honest().write();
        (0..whole.len()).for_each(|length| assert_eq!(Announcement::read(&whole[..length]), Err(Misbehaviour::Layout)));
        let changed = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            Announcement::read(&bytes)
        };
        assert_eq!(changed(22, 9), Err(Misbehaviour::Kinds));
        assert_eq!(changed(25, 1), Err(Misbehaviour::Layout), "the name of a run without bins");
        assert_eq!(read(|told| told.columns = vec!["a\u{1b}[2J".into()]), Err(Misbehaviour::Columns));
        let mut named = Announcement { columns: vec!["own".into()], ..honest() }.write();
        named[27] = 0xff;
        assert_eq!(Announcement::read(&named), Err(Misbehaviour::Columns));
        let mut more = Announcement { resume: Some(Resume { run: RunName([1; 16]), done: vec![true] }), ..honest() };
        let mut bytes = more.write();
        *bytes.last_mut().expect("a byte of bins") = 3;
        assert_eq!(Announcement::read(&bytes), Err(Misbehaviour::Layout), "a bin that there is not");
        more.kinds.clear();
        assert_eq!(Announcement::read(&more.write()), Ok(more));
    }

    #[test]
    fn a_run_is_resumed_by_those_that_hold_it_in_the_bins_chosen_now() {
        let of = |run, bins| Announcement {
            resume: Some(Resume { run: RunName([run; 16]), done: vec![false; bins] }),
            ..honest()
        };
        assert!(of(1, 3).resumes_with(&of(1, 3), 3));
        assert!(!of(1, 3).resumes_with(&of(2, 3), 3) && !of(1, 3).resumes_with(&of(1, 4), 3));
        assert!(!of(1, 3).resumes_with(&of(1, 3), 4) && !of(1, 3).resumes_with(&honest(), 3));
    }

    proptest! {
        #[test]
        fn what_is_announced_is_heard(
            numbers in (0u64..1 << 36, 1u64..1 << 60, 1u32..1 << 16),
            kinds in prop::collection::vec(0usize..9, 0..4),
            columns in prop::collection::vec("\\PC{0,9}", 0..4),
            done in prop::collection::vec(any::<bool>(), 0..40),
            run: [u8; 16],
        ) {
            let (rows, memory, workers) = numbers;
            let kinds = kinds.into_iter().map(|at| Kind::ALL[at].0).collect();
            let resume = (!done.is_empty()).then_some(Resume { run: RunName(run), done });
            let told = Announcement { rows, memory, workers, kinds, columns, resume };
            prop_assert_eq!(Announcement::read(&told.write()), Ok(told));
        }

        #[test]
        fn any_bytes_are_an_announcement_in_bounds_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            if let Ok(told) = Announcement::read(&bytes) {
                prop_assert_eq!(told.write(), bytes);
            }
        }
    }
}
