//! Who takes part in a run is signed and checked before the session begins.

use crate::faults::join_all;
use crate::world::{NAMES, seats};
use std::collections::HashSet;
use tacit_net::attendance::{Attendance, statement};
use tacit_net::tcp::Hello;
use tacit_net::testimony::{Context, verify};
use tacit_net::{NetError, Options, Security};

fn attesting(party: usize) -> Hello {
    Hello::new([7; 32], "rep3").approving([6; 32]).attesting([party as u8; 32])
}

/// What each party knows of a run that begins, and the certificates.
fn begun() -> (Vec<Attendance>, Vec<String>) {
    let mut seats = seats();
    seats.iter_mut().enumerate().for_each(|(party, seat)| seat.hello = attesting(party));
    let certificates = seats[0].parties.iter().map(|party| party.certificate_pem.clone()).collect();
    let sessions = join_all(seats, &Options::default()).into_iter().map(|session| session.expect("all fit"));
    (sessions.map(|session| session.attendance().cloned().expect("all signed")).collect(), certificates)
}

#[test]
fn all_know_who_takes_part_by_signatures_that_anybody_can_check() {
    let (known, certificates) = begun();
    assert!(known.iter().all(|attendance| *attendance == known[0]), "all know the same");
    let Attendance { run, plan_hash, approved, parties } = &known[0];
    assert_eq!((plan_hash, approved), (&[7; 32], &[6; 32]));
    assert_eq!(parties.iter().map(|present| present.name.as_str()).collect::<Vec<_>>(), NAMES);
    for (place, present) in parties.iter().enumerate() {
        assert_eq!(present.head, [place as u8; 32]);
        for (owner, certificate) in certificates.iter().enumerate() {
            let said = statement(run, plan_hash, approved, &present.head);
            let found = verify(certificate, Context::Attendance, &said, &present.signature).expect("a certificate");
            assert_eq!(found, owner == place);
        }
    }
}

#[test]
fn each_run_has_a_name_of_its_own() {
    let runs: HashSet<[u8; 32]> = (0..3).map(|_| begun().0[0].run).collect();
    assert_eq!(runs.len(), 3);
}

#[test]
fn a_party_that_signs_nothing_is_named() {
    let mut seats = seats();
    seats.iter_mut().enumerate().for_each(|(party, seat)| seat.hello = attesting(party));
    seats[1].hello = Hello::new([7; 32], "rep3").approving([6; 32]);
    let ends = join_all(seats, &Options::default());
    for party in [0, 2] {
        let Err(error) = &ends[party] else { panic!("bob has not signed") };
        let named = matches!(error, NetError::Cheating { peer, detail, .. }
            if peer == NAMES[1] && detail.contains("no signed approval"));
        let told = matches!(error, NetError::Aborted { reason, .. } if reason.contains("no signed approval"));
        assert!(named || told, "{error}");
    }
}

#[test]
fn nobody_signs_in_plaintext() {
    let mut seats = seats();
    seats.iter_mut().enumerate().for_each(|(party, seat)| seat.hello = attesting(party));
    let options = Options { security: Security::PlaintextForBenchmarks, ..Options::default() };
    for session in join_all(seats, &options) {
        assert_eq!(session.expect("all fit").attendance(), None);
    }
}
