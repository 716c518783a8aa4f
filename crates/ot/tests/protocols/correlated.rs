use crate::pair::{ALICE, BOB, cost, generator, run};
use tacit_math::Prg;
use tacit_net::Session;
use tacit_ot::correlated::{CotReceiver, CotSender};

/// Correlated OTs from a trusted dealer: the ideal twin of every extension.
fn deal(n: usize, prg: &mut Prg) -> (CotSender, CotReceiver) {
    let delta = prg.vector::<u128>(1)[0];
    let (zero, choices): (Vec<u128>, Vec<u64>) = (prg.vector(n), prg.vector(n.div_ceil(64)));
    let bit = |i: usize| choices[i / 64] >> (i % 64) & 1 == 1;
    let blocks = zero.iter().enumerate().map(|(i, zero)| zero ^ if bit(i) { delta } else { 0 }).collect();
    (CotSender { first: 1 << 40, delta, zero }, CotReceiver { first: 1 << 40, choices, blocks })
}

#[test]
fn random_keys_agree_where_the_bit_says() {
    let mut prg = generator("random OT");
    for n in [0, 1, 63, 64, 1000, (1 << 15) + 3] {
        let (sender, receiver) = deal(n, &mut prg);
        let (pairs, keys) = (sender.random(), receiver.random());
        assert_eq!((pairs.len(), keys.len()), (n, n));
        for i in 0..n {
            assert_eq!(keys[i], pairs[i][usize::from(receiver.choice(i))]);
            assert_ne!(keys[i], pairs[i][usize::from(!receiver.choice(i))]);
        }
    }
}

#[test]
fn equal_blocks_give_different_keys() {
    let sender = CotSender { first: 7, delta: 1, zero: vec![5; 200] };
    let mut keys: Vec<u128> = sender.random().concat();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 400);
}

#[test]
fn the_receiver_gets_the_chosen_messages() {
    let mut prg = generator("chosen OT");
    for n in [0, 1, 64, 100, (1 << 15) + 7] {
        let (mut sender, mut receiver) = deal(n, &mut prg);
        let (messages, choices): (Vec<[u128; 2]>, Vec<u64>) = (prg.vector(n), prg.vector(n.div_ceil(64)));
        let alice = |session: &mut Session| {
            sender.adjust(session, BOB).expect("an honest peer");
            sender.send(session, BOB, &messages).expect("an honest peer");
        };
        let bob = |session: &mut Session| {
            receiver.choose(session, ALICE, &choices).expect("an honest peer");
            receiver.receive(session, ALICE).expect("an honest peer")
        };
        let ((_, sent), (got, received)) = run(alice, bob);
        assert_eq!(cost(&sent), (2, 32 * n as u64));
        assert_eq!(cost(&received), (2, n.div_ceil(8) as u64));
        for (i, got) in got.iter().enumerate() {
            assert_eq!(*got, messages[i][(choices[i / 64] >> (i % 64) & 1) as usize]);
        }
    }
}
