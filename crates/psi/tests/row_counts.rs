//! Counts of rows arrive as they were told, at the declared cost, and only if they fit the matches.

use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::PsiError;
use tacit_psi::row_counts::{declared, hear, stand_by, tell};

/// What the two ends of a session of two give. Both live until both have ended.
fn two<A: Send, B: Send>(
    first: impl FnOnce(&mut Session) -> A + Send,
    second: impl FnOnce(&mut Session) -> B + Send,
) -> (A, B) {
    let mut sessions = memory::mesh(&["first", "second"], &Options::default()).into_iter();
    let (mut one, mut other) = (sessions.next().expect("two"), sessions.next().expect("two"));
    std::thread::scope(|scope| {
        let told = scope.spawn(|| first(&mut one));
        let heard = second(&mut other);
        (told.join().expect("no panic"), heard)
    })
}

/// What is heard of counts, and what telling them cost.
fn counts_heard(counts: &[u32], matches: usize, rows: usize) -> (u64, Result<Vec<u32>, PsiError>) {
    two(
        |session| {
            tell(session, PartyId(1), counts).expect("told");
            session.meter().snapshot().total.bytes_sent
        },
        |session| hear(session, PartyId(0), matches, rows),
    )
}

#[test]
fn counts_arrive_at_the_declared_cost() {
    for counts in [&[1, 7, 300, 2][..], &[1; 16], &[], &[1], &[64]] {
        let rows = counts.iter().sum::<u32>() as usize;
        let (sent, heard) = counts_heard(counts, counts.len(), rows);
        assert_eq!((sent, heard.expect("heard")), (declared(rows), counts.to_vec()));
    }
}

#[test]
fn counts_that_do_not_fit_the_matches_and_rows_are_cheating() {
    for (counts, matches, rows) in [(&[3, 3][..], 1, 6), (&[3, 3], 3, 6), (&[1, 1, 1], 3, 2)] {
        let (_, heard) = counts_heard(counts, matches, rows);
        assert!(matches!(heard, Err(PsiError::Cheating { .. })), "{counts:?}");
    }
}

#[test]
fn who_stands_by_is_in_the_same_round() {
    let (told, waited) = two(
        |session| {
            session.next_round();
            tell(session, PartyId(1), &[]).expect("nothing to tell");
            session.meter().snapshot().total.rounds
        },
        |session| {
            stand_by(session, 2);
            session.meter().snapshot().total.rounds
        },
    );
    assert_eq!(told, waited);
}

/// A peer that reports a match of padding, which stands for no row.
#[test]
fn a_match_of_no_row_is_refused_before_anything_is_told() {
    for counts in [&[0][..], &[8, 0], &[1, 0, 7], &[3, 0]] {
        let (error, ()) =
            two(|session| tell(session, PartyId(1), counts).expect_err("a match of no row").to_string(), |_| ());
        assert!(error.contains("it reports a match of what is no row"), "{error}");
    }
}
