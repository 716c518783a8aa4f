//! Two sessions between the same parties.

use crate::world::{NAMES, Seat, seats};
use std::thread;
use std::time::{Duration, Instant};
use tacit_net::{NetError, Options, PartyId, Session, Shape, memory};

/// Runs a program at every party, over TCP or in memory.
fn run<T: Send>(tcp: bool, options: &Options, body: impl Fn([Session; 2]) -> T + Sync) -> Vec<T> {
    let body = &body;
    thread::scope(|scope| {
        let parties: Vec<_> = if tcp {
            let join = |seat: Seat| scope.spawn(move || body(seat.join_twice(options).expect("two sessions")));
            seats().into_iter().map(join).collect()
        } else {
            let sessions = memory::mesh_of_two(&NAMES, options).into_iter();
            sessions.map(|sessions| scope.spawn(move || body(sessions))).collect()
        };
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    })
}

/// Each party sends to the next one and hears from the one before.
fn pass_on(session: &mut Session, byte: u8, length: usize) -> Result<Vec<u8>, NetError> {
    let (next, last) = (PartyId((session.me().0 + 1) % 3), PartyId((session.me().0 + 2) % 3));
    session.next_round();
    session.send(next, vec![byte; length])?;
    let mut heard = vec![0; length];
    session.recv(last, &mut heard)?;
    Ok(heard)
}

#[test]
fn each_has_its_own_bytes_rounds_and_meter() {
    for tcp in [false, true] {
        run(tcp, &Options::default(), |[mut first, mut second]| {
            let other = thread::spawn(move || {
                for round in 0..3 {
                    assert_eq!(pass_on(&mut second, round, 2000), Ok(vec![round; 2000]));
                }
                let total = second.meter().snapshot().total;
                second.close().map(|()| total)
            });
            assert_eq!(pass_on(&mut first, 9, 10), Ok(vec![9; 10]));
            let total = first.meter().snapshot().total;
            first.close().expect("an orderly end");
            let other = other.join().expect("no panic").expect("an orderly end");
            assert_eq!([total, other].map(|total| (total.rounds, total.bytes_sent)), [(1, 10), (3, 6000)]);
        });
    }
}

#[test]
fn one_fails_alone() {
    for tcp in [false, true] {
        run(tcp, &Options::default(), |[mut first, mut second]| {
            first.next_round();
            if first.me() == PartyId(0) {
                // Whoever has said something has both sessions, and is not connecting still.
                for peer in [1, 2] {
                    first.recv(PartyId(peer), &mut [0]).expect("both sessions");
                }
                second.abort("enough");
            } else {
                first.send(PartyId(0), vec![1]).expect("both sessions");
                let error = second.recv(PartyId(0), &mut [0]).expect_err("the session has failed");
                assert!(matches!(error, NetError::Aborted { reason, .. } if reason.contains("enough")));
            }
            assert_eq!(pass_on(&mut first, 1, 10), Ok(vec![1; 10]));
            first.close().expect("an orderly end");
        });
    }
}

#[test]
fn a_shaped_link_is_one_link_for_both() {
    let shape = Shape { bandwidth: Some(1 << 20), ..Shape::default() };
    let options = Options { shape, ..Options::default() };
    let start = Instant::now();
    run(false, &options, |[mut first, mut second]| {
        let other = thread::spawn(move || pass_on(&mut second, 1, 1 << 17).map(|_| second.close()));
        pass_on(&mut first, 2, 1 << 17).expect("an honest peer");
        other.join().expect("no panic").expect("an honest peer").expect("an orderly end");
        first.close().expect("an orderly end");
    });
    assert!(start.elapsed() >= Duration::from_millis(240), "an eighth of a second for each");
}

#[test]
fn a_party_with_one_session_does_not_fit_those_with_two() {
    let options = Options::default();
    let errors: Vec<NetError> = thread::scope(|scope| {
        let join = |seat: Seat| {
            let options = &options;
            scope.spawn(move || match seat.me {
                0 => seat.join(options).err(),
                _ => seat.join_twice(options).err(),
            })
        };
        let parties: Vec<_> = seats().into_iter().map(join).collect();
        parties.into_iter().filter_map(|party| party.join().expect("no party panics")).collect()
    });
    assert_eq!(errors.len(), 3, "every party must end: {errors:?}");
    assert!(matches!(&errors[0], NetError::DifferentPlan { detail, .. } if detail.contains("session")), "{errors:?}");
}
