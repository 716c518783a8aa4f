//! The battery finds what is planted and nothing in clean data.

use tacit_math::Prg;
use tacit_views::{
    Difference, Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, repeats, runs_needed, seed,
};

/// Pseudorandom numbers.
fn numbers(purpose: &str) -> Prg {
    Prg::new(&seed(purpose))
}

fn word(prg: &mut Prg) -> u64 {
    prg.vector(1)[0]
}

/// As many runs as relations need, and some more.
fn runs(make: impl FnMut() -> Run) -> Vec<Run> {
    let mut make = make;
    let first = make();
    let more = runs_needed(&first) + 100;
    std::iter::once(first).chain(std::iter::repeat_with(make).take(more)).collect()
}

fn views(runs: &[Run]) -> Vec<View> {
    runs.iter().map(|run| run.view.clone()).collect()
}

/// Two secrets sent under masks; `fault` changes the two messages, given secrets and masks.
fn masked(fault: impl Fn([u64; 2], [u64; 2]) -> [u64; 2]) -> Vec<Run> {
    let mut prg = numbers("masked");
    runs(|| {
        let [x, y, r, s, own] = [(); 5].map(|()| word(&mut prg));
        let messages = fault([x, y], [r, s]);
        let view = View::default()
            .with(Kind::Own, "own share", own.to_le_bytes())
            .with(Kind::Received, "first", messages[0].to_le_bytes())
            .with(Kind::Received, "second", messages[1].to_le_bytes());
        let secret = View::default().with(Kind::Own, "x", x.to_le_bytes()).with(Kind::Own, "y", y.to_le_bytes());
        Run { view, known: View::default(), secret }
    })
}

fn is_clean(runs: &[Run]) {
    assert_eq!(leaks(runs), []);
    assert_eq!(constants(&views(runs)), []);
    assert_eq!(biased(&views(runs)), []);
    assert_eq!(correlated(runs), []);
    assert_eq!(repeats(&views(runs), 8), []);
}

#[test]
fn clean_data_pass() {
    is_clean(&masked(|[x, y], [r, s]| [x ^ r, y ^ s]));
    is_clean(&masked(|[x, y], [r, s]| [x.wrapping_add(r), y.wrapping_sub(s)]));
}

#[test]
fn a_reused_mask_is_found() {
    let found = leaks(&masked(|[x, y], [r, _]| [x ^ r, y ^ r]));
    assert_eq!(found.len(), 64, "the XOR of both secrets, bit by bit");
    let expected = [
        "Received first (part 1), bit 0",
        "Received second (part 2), bit 0",
        "Own x (part 0), bit 0",
        "Own y (part 1), bit 0",
    ];
    assert!(found.iter().any(|relation| relation.bits == expected), "{:?}", found[0]);
    let found = leaks(&masked(|[x, y], [r, _]| [x.wrapping_add(r), y.wrapping_add(r)]));
    assert_eq!(found.len(), 1, "sums are linear in their lowest bit");
}

#[test]
fn an_unmasked_lane_is_found() {
    let all_but_one = !(1 << 17);
    let found = leaks(&masked(|[x, y], [r, s]| [x ^ r, y ^ s & all_but_one]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].bits, ["Received second (part 2), bit 17", "Own y (part 1), bit 17"]);
}

#[test]
fn a_relation_over_several_words_is_found() {
    // The second message is masked by its secret's neighbour bits and the first message: three words take part.
    let found =
        leaks(&masked(|[x, y], [r, _]| [x ^ r, y.rotate_left(5) ^ x ^ r ^ r.rotate_left(9) ^ (x ^ r).rotate_left(9)]));
    assert_eq!(found.len(), 64);
    assert!(found.iter().all(|relation| relation.bits.len() >= 4));
}

#[test]
fn lanes_show_the_same_in_less_time() {
    let cut: Vec<Run> = masked(|[x, y], [r, _]| [x ^ r, y ^ r]).iter().map(|run| run.lanes(0xf0)).collect();
    assert_eq!(cut[0].view.bits(), 3 * 4);
    let cut: Vec<Run> = cut.into_iter().take(4000).collect();
    assert_eq!(leaks(&cut).len(), 4);
}

#[test]
fn what_outputs_explain_is_no_leak() {
    let mut prg = numbers("outputs");
    let mut run = |declared: bool| {
        let [x, r] = [(); 2].map(|()| word(&mut prg));
        let view = View::default().with(Kind::Drawn, "mask", r.to_le_bytes()).with(
            Kind::Received,
            "message",
            (x ^ r).to_le_bytes(),
        );
        let output = View::default().with(Kind::Opened, "output", x.to_le_bytes());
        let secret = View::default().with(Kind::Own, "x", x.to_le_bytes());
        Run { view, known: if declared { output } else { View::default() }, secret }
    };
    assert_eq!(leaks(&runs(|| run(false))).len(), 64);
    let declared = runs(|| run(true));
    assert_eq!(leaks(&declared), []);
    assert_eq!(constants(&views(&declared)), [], "mask and message differ by the output, which changes");
}

#[test]
fn a_constant_is_found() {
    let mut prg = numbers("constants");
    let runs = runs(|| {
        let [r, s] = [(); 2].map(|()| word(&mut prg));
        let view = View::default()
            .with(Kind::Received, "tail", (r & !(1 << 3)).to_le_bytes())
            .with(Kind::Received, "mask", s.to_le_bytes())
            .with(Kind::Received, "again", (s ^ 5).to_le_bytes());
        Run { view, ..Run::default() }
    });
    let found = constants(&views(&runs));
    assert_eq!(found.len(), 65);
    assert_eq!(found[0].bits, ["Received tail (part 0), bit 3"]);
    assert_eq!(found[1].bits, ["Received mask (part 1), bit 0", "Received again (part 2), bit 0"]);
}

#[test]
fn a_biased_bit_is_found() {
    let mut prg = numbers("tilt");
    let runs = masked(|[x, y], [r, s]| [x ^ r, y ^ s]);
    let tilt = |view: &View| {
        let [bits, own] = [(); 2].map(|()| word(&mut prg));
        // One in three quarters of all runs.
        let bit = u64::from(bits & 3 != 0) << 40;
        view.filter(|_| false).with(Kind::Received, "tilted", (own & !(1 << 40) | bit).to_le_bytes())
    };
    let found = biased(&views(&runs).iter().map(tilt).collect::<Vec<_>>());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].what, "Received tilted (part 0), bit 40");
    let mut prg = numbers("sparse");
    // Every bit is one a little more seldom: only all of them together show it.
    let sparse = (0..400).map(|_| {
        let bytes = [(); 32].map(|()| {
            let [a, b, c, d] = [(); 4].map(|()| word(&mut prg) as u8);
            a & !(b & c & d)
        });
        View::default().with(Kind::Received, "slightly", bytes)
    });
    let found = biased(&sparse.collect::<Vec<_>>());
    assert!(found.iter().any(|part| part.what == "Received slightly (part 0)"), "{found:?}");
}

#[test]
fn a_product_with_a_secret_is_found() {
    let runs = masked(|[x, y], [r, s]| [x & r, y ^ s]);
    assert_eq!(leaks(&runs), [], "a product is not linear");
    let found = correlated(&runs);
    // A bit agrees with its own in three quarters of all runs, by chance in fewer.
    assert!(found.len() > 48, "nearly every bit leans to its own, not {}", found.len());
    for each in &found {
        assert_eq!(each.seen.replace("Received first (part 1)", "Own x (part 0)"), each.secret);
    }
}

#[test]
fn repeated_words_and_differences_are_found() {
    let mut prg = numbers("words");
    let mut plant = |runs: &[Run], fault: &dyn Fn(usize, &mut [u64; 4])| -> Vec<View> {
        let each = |(number, _): (usize, &Run)| {
            let mut words = [(); 4].map(|()| word(&mut prg));
            fault(number, &mut words);
            words.iter().fold(View::default(), |view, word| view.with(Kind::Received, "word", word.to_le_bytes()))
        };
        runs.iter().enumerate().map(each).collect()
    };
    let runs = masked(|[x, y], [r, s]| [x ^ r, y ^ s]);
    assert_eq!(repeats(&plant(&runs, &|_, _| {}), 8), []);
    let within = repeats(
        &plant(&runs, &|run, words| {
            if run == 77 {
                words[3] = words[1]
            }
        }),
        8,
    );
    assert_eq!(within[0].places, ["run 77, Received word (part 1), word 0", "run 77, Received word (part 3), word 0"]);
    let across = repeats(
        &plant(&runs, &|run, words| {
            if run == 3 || run == 200 {
                words[2] = 0x1234_5678_9abc_def0
            }
        }),
        8,
    );
    assert_eq!(across[0].places, ["run 3, Received word (part 2), word 0", "run 200, Received word (part 2), word 0"]);
    let differences = repeats(
        &plant(&runs, &|run, words| {
            if run < 2 {
                words[3] = words[0] ^ 0x5555
            }
        }),
        8,
    );
    assert_eq!(differences[0].places.len(), 4, "two pairs with one difference");
    assert!(differences[0].places[0].starts_with("run 0") && differences[0].places[2].starts_with("run 1"));
}

#[test]
fn simulated_views_that_differ_are_told_apart() {
    let real = || masked(|[x, y], [r, s]| [x ^ r, y ^ s]);
    let mut prg = numbers("simulated");
    let mut remade = |runs: &[Run], make: &dyn Fn(&View, [u64; 3]) -> View| -> Vec<Run> {
        runs.iter().map(|run| run.seeing(make(&run.view, [(); 3].map(|()| word(&mut prg))))).collect()
    };
    let uniform = |first: u64, second: u64, view: &View| {
        let messages = [("first", first), ("second", second)];
        messages
            .iter()
            .fold(view.only(&[Kind::Own]), |view, (name, word)| view.with(Kind::Received, name, word.to_le_bytes()))
    };
    let honest = real();
    assert_eq!(indistinguishable(&honest, &remade(&honest, &|view, [a, b, _]| uniform(a, b, view))), []);
    let correlated = real();
    let found = indistinguishable(&correlated, &remade(&correlated, &|view, [a, b, _]| uniform(a, a ^ b & 1, view)));
    assert!(found.iter().any(|difference| matches!(difference, Difference::Relation { real: false, .. })));
    assert!(found.iter().any(|difference| matches!(difference, Difference::Frequency { bits, .. } if bits.len() == 2)));
    let biased = real();
    let found = indistinguishable(&biased, &remade(&biased, &|view, [a, b, c]| uniform(a, b & c & !a, view)));
    assert!(
        found
            .iter()
            .filter(|difference| matches!(difference, Difference::Frequency { bits, .. } if bits.len() == 1))
            .count()
            == 64
    );
    let leaking = masked(|[x, y], [_, s]| [x, y ^ s]);
    let found = indistinguishable(&leaking, &remade(&leaking, &|view, [a, b, _]| uniform(a, b, view)));
    assert_eq!(
        found.iter().filter(|difference| matches!(difference, Difference::Relation { real: true, .. })).count(),
        64
    );
}

/// A bit that is one in every thirty-second run is zero in all of some hundred runs now and then.
#[test]
fn bits_that_are_seldom_one_are_no_difference() {
    let mut prg = numbers("seldom");
    let mut seldom = || (0..5).fold(!0, |all, _| all & word(&mut prg));
    let mut play = || {
        runs(|| Run { view: View::default().with(Kind::Derived, "seldom", seldom().to_le_bytes()), ..Run::default() })
    };
    for _ in 0..50 {
        assert_eq!(indistinguishable(&play(), &play()), []);
    }
}

#[test]
#[should_panic(expected = "too few to find relations")]
fn too_few_runs_are_refused() {
    let few: Vec<Run> = masked(|[x, y], [r, s]| [x ^ r, y ^ s]).into_iter().take(100).collect();
    leaks(&few);
}

#[test]
#[should_panic(expected = "depends on more than public sizes")]
fn views_of_other_layout_are_refused() {
    biased(&[View::default().with(Kind::Received, "a", [1]), View::default().with(Kind::Received, "a", [1, 2])]);
}
