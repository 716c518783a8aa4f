//! What two parties have in common.

use crate::world::{NAMES, Transport};
use std::collections::HashSet;
use tacit_net::{NetError, Options, PartyId, Session, relay};

/// The next secret with each other party.
fn draw(session: &mut Session, purpose: &str) -> Vec<Option<[u8; 32]>> {
    let me = session.me();
    (0..NAMES.len())
        .map(PartyId)
        .map(|peer| (peer != me).then(|| *session.pair_secret(peer, purpose).expect("a peer")))
        .collect()
}

#[test]
fn both_of_a_pair_have_it_and_nobody_else_without_a_message() {
    let mut all = HashSet::new();
    for transport in Transport::ALL {
        let drawn = transport.succeed(&Options::default(), |session| {
            let drawn = ["x", "y", "x"].map(|purpose| draw(session, purpose));
            assert_eq!(session.meter().snapshot().total.bytes_sent, 0);
            Ok(drawn)
        });
        for (low, high) in [(0, 1), (0, 2), (1, 2)] {
            let [a, b] = [(low, high), (high, low)].map(|(me, peer)| drawn[me].each_ref().map(|round| round[peer]));
            assert_eq!(a, b, "{transport:?}");
            assert!(a.iter().all(|drawn| all.insert(drawn.expect("a peer"))), "every one is another");
        }
    }
}

#[test]
fn a_party_has_none_with_itself_nor_where_somebody_else_carries_the_bytes() {
    for transport in Transport::ALL {
        transport.succeed(&Options::default(), |session| {
            let own = session.pair_secret(session.me(), "x");
            assert!(matches!(own, Err(NetError::BadConfiguration { .. })));
            Ok(())
        });
    }
    let (mut session, _relay) = relay::session(["a", "b"], 0, &Options::default());
    assert!(matches!(session.pair_secret(PartyId(1), "x"), Err(NetError::BadConfiguration { .. })));
}

#[test]
fn all_have_the_same_random_numbers_and_every_group_others() {
    let mut all = HashSet::new();
    for transport in Transport::ALL {
        for _ in 0..2 {
            let drawn = transport.succeed(&Options::default(), |session| Ok(session.drawn()));
            assert!(drawn.iter().all(|of_party| *of_party == drawn[0]), "{transport:?}");
            assert!(all.insert(drawn[0]), "{transport:?}: every run draws anew");
        }
    }
}

#[test]
fn nodes_of_two_sessions_and_their_clients_have_the_same_random_numbers() {
    let ends = tacit_net::memory::mesh_with_clients(&NAMES[..2], &NAMES[2..], 2, &Options::default());
    let drawn: Vec<[u8; 32]> = ends.iter().flatten().map(Session::drawn).collect();
    assert!(drawn.len() == 5 && drawn.iter().all(|of_end| *of_end == drawn[0]));
    assert_eq!(ends[0][0].clients().expect("a client").drawn(), drawn[0]);
}
