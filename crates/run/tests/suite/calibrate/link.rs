//! Links between parties of one process, shaped and not.

use std::thread;
use std::time::Duration;

use tacit_net::{Options, PartyId, Session, Shape, memory};

use tacit_run::calibrate::link::{Links, among, hear, tell};
use tacit_run::{Link, Result, RunError};

/// What all parties find.
fn found(sessions: Vec<Session>) -> Vec<Links> {
    thread::scope(|scope| {
        let parties: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| among(session))).collect();
        parties.into_iter().map(|party| party.join().expect("no panic").expect("measured")).collect()
    })
}

fn shaped(latency: u64, bandwidth: Option<u64>) -> Options {
    let shape = Shape { latency: Duration::from_millis(latency), bandwidth };
    Options { shape, ..Options::default() }
}

#[test]
fn all_parties_find_the_same_numbers_of_all_pairs() {
    let all = found(memory::mesh(&["a", "b", "c"], &shaped(10, None)));
    let [first, second, third] = &all[..] else { panic!("three parties") };
    assert_eq!((first, first), (second, third));
    let names: Vec<String> = first.pairs.iter().map(|pair| pair.names.concat()).collect();
    assert_eq!(names, ["ab", "ac", "bc"]);
    for pair in &first.pairs {
        assert!((0.01..0.02).contains(&pair.link.latency), "{pair:?}");
        assert!(pair.link.latency <= first.worst.latency, "{pair:?}");
        assert!(pair.link.bandwidth >= first.worst.bandwidth, "{pair:?}");
    }
}

#[test]
fn a_slow_link_is_found_as_slow_as_it_is() {
    for Links { worst, .. } in found(memory::mesh(&["a", "b"], &shaped(5, Some(4_000_000)))) {
        assert!((0.005..0.01).contains(&worst.latency), "{worst:?}");
        assert!((3.2e6..=4.4e6).contains(&worst.bandwidth), "{worst:?}");
    }
}

#[test]
fn numbers_that_no_link_has_are_refused() {
    let nonsense = [(f64::NAN, 1e6), (-1.0, 1e6), (1e308, 1e6), (0.01, f64::INFINITY), (0.01, 0.0), (0.01, 5e-324)];
    let told = |mut ends: [Session; 2], (latency, bandwidth)| -> Result<Link> {
        tell(&mut ends[0], PartyId(1), Link { latency, bandwidth })?;
        hear(&mut ends[1], PartyId(0))
    };
    for link in [(0.01, 1e6)].into_iter().chain(nonsense) {
        let ends = memory::mesh(&["a", "b"], &Options::default()).try_into().expect("two");
        match told(ends, link) {
            Ok(heard) => assert_eq!((heard.latency, heard.bandwidth), (0.01, 1e6)),
            Err(error @ RunError::Net(_)) => assert_eq!(error.place()[0], Some("a"), "{error}"),
            Err(other) => panic!("{other}"),
        }
    }
}
