use crate::pair::{ALICE, BOB, cost, generator, run};
use std::collections::HashSet;
use tacit_net::Session;
use tacit_ot::{OtError, base};

#[test]
fn the_receiver_gets_the_chosen_key() {
    let mut prg = generator("base OT");
    for n in [0, 1, 2, 128, 131] {
        let choices: Vec<bool> = prg.vector::<u8>(n).iter().map(|byte| byte & 1 == 1).collect();
        let sender = |session: &mut Session| base::send(session, BOB, n).expect("an honest peer");
        let receiver = |session: &mut Session| base::receive(session, ALICE, &choices).expect("an honest peer");
        let ((pairs, sent), (keys, received)) = run(sender, receiver);
        assert_eq!((pairs.len(), keys.len()), (n, n));
        for (i, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
            assert_eq!(*key, pair[usize::from(choices[i])]);
        }
        let all: HashSet<u128> = pairs.iter().flatten().copied().collect();
        assert_eq!(all.len(), 2 * n, "all keys differ");
        assert_eq!(cost(&sent), (base::ROUNDS, base::bytes_of_sender(n)));
        assert_eq!(cost(&received), (base::ROUNDS, base::bytes_of_receiver(n)));
    }
}

#[test]
fn keys_are_bound_to_the_step() {
    let sender = |session: &mut Session| {
        session.enter("one");
        let pairs = base::send(session, BOB, 1).expect("an honest peer");
        session.leave();
        pairs
    };
    let receiver = |session: &mut Session| {
        session.enter("another");
        let keys = base::receive(session, ALICE, &[true]).expect("an honest peer");
        session.leave();
        keys
    };
    let ((pairs, _), (keys, _)) = run(sender, receiver);
    assert!(!pairs[0].contains(&keys[0]));
}

#[test]
fn what_is_no_group_element_is_refused() {
    let mut odd = vec![0; 16 + 64];
    odd[16] = 1; // behind the nonce: an odd number is never an encoding
    let sender = |session: &mut Session| base::send(session, BOB, 1).expect_err("no group element");
    let receiver = |session: &mut Session| {
        session.next_round();
        session.send(ALICE, odd).expect("sent");
        session.recv(ALICE, &mut [0; 32]).expect("received");
    };
    let ((error, _), _) = run(sender, receiver);
    assert!(
        matches!(error, OtError::Cheating { ref peer, ref step, .. } if peer == "bob" && step == "protocol"),
        "{error}"
    );
}

#[test]
fn the_neutral_element_is_refused() {
    let sender = |session: &mut Session| {
        session.next_round();
        session.send(BOB, vec![0; 32]).expect("sent");
        session.recv(BOB, &mut [0; 16 + 64]).expect("received");
    };
    let receiver = |session: &mut Session| base::receive(session, ALICE, &[false]).expect_err("the neutral element");
    let (_, (error, _)) = run(sender, receiver);
    assert!(matches!(error, OtError::Cheating { ref peer, .. } if peer == "alice"), "{error}");
}
