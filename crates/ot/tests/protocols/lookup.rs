use crate::pair::{ALICE, BOB, cost, generator, run};
use crate::silent::deal;
use tacit_math::Prg;
use tacit_net::{PartyId, Session};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::silent::lookup::{self, LOOKUP_STRINGS};

/// OTs of one direction from a dealer, for correlations made in several calls.
fn deal_for(prg: &mut Prg, calls: &[usize]) -> Vec<(CotSender, CotReceiver)> {
    let delta = lookup::delta(prg.vector::<u128>(1)[0]);
    let first = |i: usize| calls[..i].iter().all(|&n| n == 0);
    calls.iter().enumerate().map(|(i, &n)| deal(prg, delta, lookup::ots(first(i), n))).collect()
}

#[test]
fn both_directions_at_once() {
    both_directions([[64, 128], [0, 4096], [300_000, 150_016], [0, 0], [64, 4032]]);
}

#[test]
fn one_direction_before_the_other() {
    both_directions([[64, 0], [0, 64], [64, 64], [128, 0], [0, 0]]);
}

fn both_directions(calls: [[usize; 2]; 5]) {
    let mut prg = generator("lookups of both directions");
    let [first, second] = [0, 1].map(|direction| deal_for(&mut prg, &calls.map(|n| n[direction])));
    let party = |session: &mut Session| {
        let me = session.me().0;
        let (peer, [ours, theirs]) = (PartyId(1 - me), if me == 0 { [&first, &second] } else { [&second, &first] });
        let (mut sender, mut receiver) = (lookup::Sender::default(), lookup::Receiver::default());
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for (call, n) in calls.iter().enumerate() {
            let ends = ((&mut sender, n[me], &ours[call].0), (&mut receiver, n[1 - me], &theirs[call].1));
            let (sent, received) = (|b: &[u128]| sent.extend_from_slice(b), |c: &[u128]| received.extend_from_slice(c));
            lookup::extend(session, peer, ends.0, ends.1, sent, received).expect("an honest peer");
        }
        (sent, received)
    };
    let ((alice, alice_cost), (bob, bob_cost)) = run(party, party);
    let views = [(ALICE, &first, &alice.0, &bob.1, alice_cost), (BOB, &second, &bob.0, &alice.1, bob_cost)];
    for (sender, ots, b, c, counters) in views {
        let of = |direction: usize, call: usize| {
            let first = calls[..call].iter().all(|n| n[direction] == 0);
            lookup::extension_cost(first, calls[call][direction])
        };
        let declared = (0..calls.len()).map(|call| of(sender.0, call).sender + of(1 - sender.0, call).receiver).sum();
        assert_eq!(cost(&counters), (calls.len() as u64, declared));
        assert_eq!(b.len(), calls.iter().map(|n| n[sender.0]).sum::<usize>());
        assert_eq!(b.len(), c.len());
        let multiples = lookup::multiples(ots[0].0.delta);
        let mut chosen = [0; LOOKUP_STRINGS];
        for (i, (b, c)) in b.iter().zip(c).enumerate() {
            assert_eq!(*b as usize % LOOKUP_STRINGS, 0, "the sender's lowest coordinate is zero");
            let choice = *c as usize % LOOKUP_STRINGS;
            assert_eq!(*c, b ^ multiples[choice], "correlation {i}");
            chosen[choice] += 1;
        }
        // Ten standard deviations: a failure is no accident.
        let mean = c.len() as f64 / LOOKUP_STRINGS as f64;
        assert!(chosen.iter().all(|&count: &u32| (f64::from(count) - mean).abs() < 10.0 * mean.sqrt()), "{chosen:?}");
    }
}
