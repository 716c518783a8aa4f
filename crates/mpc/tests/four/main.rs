//! The engine of four servers: its published forms, how often they fail, and what its assistants keep.

#[path = "../permits/mod.rs"]
mod permits;

use std::cell::Cell;
use std::thread;

use tacit_math::matrix::Element;
use tacit_math::{Plane, Prg, Ring};
use tacit_mpc::backends::four::failure::{MOST, of_numbers};
use tacit_mpc::backends::{Costs, Four, Networked, Tally};
use tacit_mpc::{Backend, Block, Linear, MatrixProduct, Result, Rows, Shape, linear};
use tacit_net::{Cost, Options, PartyId, Record, Source, memory};
use tacit_views::{Kind, Run, View, correlated, leaks, runs_needed};

use permits::permit;

const SERVERS: [&str; 4] = ["s1", "s2", "sa", "sb"];
const PRIMARY: usize = 2;

/// What every server of a run gives.
fn servers<T: Send>(options: &Options, run: impl Fn(&mut Four) -> Result<T> + Sync) -> Vec<T> {
    let sessions = memory::mesh(&SERVERS, options);
    let run = &run;
    let server = move |session| {
        let mut b = Four::start(session).expect("an engine");
        let out = run(&mut b).expect("a result");
        b.into_session().close().expect("an orderly end");
        out
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(move || server(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a server")).collect()
    })
}

fn shared(b: &mut Four, data: &Block) -> Result<Rows<Four>> {
    let owner = PartyId(2);
    let own = (b.session().me() == owner).then(|| data.clone());
    b.input(owner, data.shape(), own)
}

fn opened(b: &mut Four, rows: &Rows<Four>) -> Result<Block> {
    Ok(b.open(rows, permit(&SERVERS, rows.shape()))?.expect("all are recipients"))
}

/// A computation on shared columns, on the engine and without data.
trait Work: Sync {
    fn of<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>>;
}

/// What comes out, what it cost by the meter, and how often it may fail by the formulas. Declared is metered.
fn measured(work: &impl Work, data: &Block) -> (Block, f64) {
    let mut tally = Tally::<<Four as Networked>::Formulas>::new(SERVERS.map(String::from).to_vec());
    let columns = tally.columns(data.shape());
    tally.take();
    work.of(&mut tally, columns).expect("a tally");
    let (declared, failure) = (tally.take(), tally.take_failure());
    let runs = servers(&Options::default(), |b| {
        let x = shared(b, data)?;
        let out = b.step("work", |b| work.of(b, x))?;
        let counters = b.session().meter().snapshot().under("work");
        Ok((opened(b, &out)?, counters))
    });
    let rounds = runs[0].1.rounds;
    assert!(runs.iter().all(|(_, counters)| counters.rounds == rounds), "all servers count the same rounds");
    let metered = Cost { rounds, sent: runs.iter().map(|(_, counters)| counters.bytes_sent).collect() };
    assert_eq!(metered, declared, "metered against declared");
    assert!(runs.iter().all(|(out, _)| out.r128 == runs[0].0.r128 && out.r32 == runs[0].0.r32), "one result");
    (runs.into_iter().next().expect("a server").0, failure)
}

/// Numbers of a width, of both signs.
fn numbers(count: usize, bits: u32, prg: &mut Prg) -> Vec<u128> {
    prg.vector::<u128>(count).into_iter().map(|x| (x.cast_signed() >> (128 - bits)).cast_unsigned()).collect()
}

/// x y / 2^16, x x / 2^40 + y y, x / 2^20, and a product of matrices, all of numbers of 40 bits.
struct Products;

const WITHIN: u128 = 1 << 39;

impl Work for Products {
    fn of<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let [x, y] = [&x.r128[0], &x.r128[1]];
        let first = b.multiply_within(&[vec![(x, y)], vec![(x, x), (y, y)]], 16, &[[WITHIN; 2]; 2])?;
        let second = b.truncate_within(&[x], 20, &[WITHIN])?;
        let rows = x.rows();
        let [left, right] = [x, y].map(|x| x.map(12, |x| x[..12].to_vec()));
        let products = [MatrixProduct::new(&left, &right, [3, 4, 3])];
        let product = b.matrix_products_within(&products, 16, &[[WITHIN; 2]])?.swap_remove(0);
        let product = product.map(rows, |x| [x.as_slice(), &vec![0; rows - 9]].concat());
        Ok(Rows { r128: [first, second, vec![product]].concat(), ..Rows::empty(rows) })
    }
}

#[test]
fn published_products_are_within_two_units() {
    let mut prg = Prg::new(&tacit_views::seed("products of four servers"));
    let rows = 300;
    let (mut x, y) = (numbers(rows, 40, &mut prg), numbers(rows, 40, &mut prg));
    // Multiples of what is cut off, which truncation divides exactly.
    x[20..40].iter_mut().for_each(|x| *x = *x >> 20 << 20);
    let (out, failure) = measured(&Products, &Block { rows, r128: vec![x.clone(), y.clone()], ..Block::default() });
    let signed = |x: u128| x.cast_signed();
    let beside = |found: u128, exact: i128, cut: u32| {
        let twice = (signed(found) << cut) - exact;
        assert!(twice.unsigned_abs() <= 2 << cut, "{found} for {exact} / 2^{cut}");
    };
    for i in 0..rows {
        let (x, y) = (signed(x[i]), signed(y[i]));
        beside(out.r128[0][i], x * y, 16);
        beside(out.r128[1][i], x * x + y * y, 16);
        let quotient = signed(out.r128[2][i]);
        assert!(quotient == x >> 20 || quotient == -(-x >> 20), "one of two integers, or the quotient");
    }
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let exact = (0..4).map(|t| signed(x[4 * i + t]) * signed(y[3 * t + j])).sum();
        beside(out.r128[3][3 * i + j], exact, 16);
    }
    let elements = 2 * rows + 4 * rows + rows + 24;
    let bound = of_numbers(elements, WITHIN, 128);
    assert!(failure > 0.0 && (failure / bound - 1.0).abs() < 1e-9, "{failure} against {bound}");
}

/// Whether numbers of 40 bits are negative.
struct Signs;

impl Work for Signs {
    fn of<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let mut bits = Vec::new();
        for x in &x.r128 {
            bits.push(b.sign_within(x, 40)?.expect("it is far within the ring"));
        }
        Ok(Rows { bits, ..Rows::empty(x.rows) })
    }
}

#[test]
fn signs_are_those_of_the_numbers() {
    let mut prg = Prg::new(&tacit_views::seed("signs of four servers"));
    for rows in [0, 1, 65, 300] {
        let (mut x, y) = (numbers(rows, 40, &mut prg), numbers(rows, 40, &mut prg));
        x.iter_mut().zip([0, u128::MAX, 1, (1 << 39) - 1, (1u128 << 39).wrapping_neg()]).for_each(|(x, end)| *x = end);
        let (out, failure) = measured(&Signs, &Block { rows, r128: vec![x.clone(), y.clone()], ..Block::default() });
        for (column, plane) in [x, y].iter().zip(&out.bits) {
            assert!(column.iter().enumerate().all(|(i, x)| plane.get(i) == (x.cast_signed() < 0)));
        }
        assert!((failure - of_numbers(2 * rows, 1 << 39, 128)).abs() <= failure * 1e-9);
    }
}

#[test]
fn comparisons_give_zero_or_one_in_the_ring() {
    fn of<R: Ring>() {
        let mut prg = Prg::new(&tacit_views::seed("comparisons of four servers"));
        let rows = 130;
        let values: Vec<u128> = numbers(2 * rows, 12, &mut prg);
        let (x, y) = values.split_at(rows);
        let data = Block { rows, r128: vec![x.to_vec(), y.to_vec()], ..Block::default() };
        let found = servers(&Options::default(), |b| {
            let shares = shared(b, &data)?;
            let narrow = |x: &<Four as tacit_mpc::SharedTypes>::Vector<u128>| b.narrow(x);
            let [x64, y64] = [narrow(&shares.r128[0]), narrow(&shares.r128[1])];
            let less = if R::BITS == 128 {
                Rows { r128: vec![b.less_than(&shares.r128[0], &shares.r128[1])?], ..Rows::empty(rows) }
            } else {
                Rows { r64: vec![b.less_than(&x64, &y64)?], ..Rows::empty(rows) }
            };
            opened(b, &less)
        });
        for i in 0..rows {
            let less = u128::from(x[i].cast_signed() < y[i].cast_signed());
            let got = found[0].r128.first().map_or_else(|| found[0].r64[0][i].into(), |bits| bits[i]);
            assert_eq!(got, less, "row {i}");
        }
    }
    of::<u128>();
    of::<u64>();
}

/// In a ring of 32 bits numbers of 28 bits wrap in one of sixteen cases, as the formula says.
#[test]
fn a_small_ring_fails_as_often_as_the_formula_says() {
    const ROWS: usize = 1 << 14;
    let x = 1u32 << 28;
    let data = Block { rows: ROWS, r32: vec![vec![x; ROWS], vec![x.wrapping_neg(); ROWS]], ..Block::default() };
    let out = &servers(&Options::default(), |b| {
        let shares = shared(b, &data)?;
        let [x, minus] = [&shares.r32[0], &shares.r32[1]];
        let truncated = b.truncate_within(&[x, minus], 8, &[1 << 28; 2])?;
        let product = b.multiply_within(&[vec![(x, minus)]], 31, &[[1 << 28; 2]])?;
        let zeros = b.public_vector(ROWS, || vec![0; ROWS]);
        let less = b.less_than(minus, &zeros)?;
        opened(b, &Rows { r32: [truncated, product, vec![less]].concat(), ..Rows::empty(ROWS) })
    })[0];
    let failures = |column: usize, right: u32, off: u32| {
        let fails = |&&found: &&u32| found.wrapping_sub(right).wrapping_add(off) > 2 * off;
        out.r32[column].iter().filter(fails).count() as f64 / ROWS as f64
    };
    let one = of_numbers(1, 1 << 28, 32);
    let both = 1.0 - (1.0 - one) * (1.0 - one);
    let product = (1u32 << 25).wrapping_neg();
    let rates = [
        (failures(0, 1 << 20, 1), one),
        (failures(1, (1u32 << 20).wrapping_neg(), 1), one),
        (failures(2, product, 2), both),
        (failures(3, 1, 0), one),
    ];
    for (which, (rate, expected)) in rates.into_iter().enumerate() {
        let deviation = (expected * (1.0 - expected) / ROWS as f64).sqrt();
        assert!((rate - expected).abs() < 5.0 * deviation, "form {which}: {rate} against {expected}");
    }
}

#[test]
fn a_ring_of_64_bits_is_above_what_is_accepted() {
    fn failure<R: Element>(bits: u32) -> f64 {
        let mut tally = Tally::<<Four as Networked>::Formulas>::new(SERVERS.map(String::from).to_vec());
        let x = tally.public_vector::<R>(1 << 20, Vec::new);
        tally.multiply_within::<R>(&[vec![(&x, &x)]], 16, &[[1 << bits; 2]]).expect("a tally");
        tally.take_failure()
    }
    assert!(failure::<u64>(31) > MOST && failure::<u128>(31) < MOST);
    const { assert!(<<Four as Networked>::Formulas as Costs>::FAILS) };
}

/// How many components a server holds of columns: linear maps are called once for each.
fn held(rows: &Rows<Four>) -> usize {
    let count = Cell::new(0);
    let each = |columns: usize| count.set(count.get() + columns);
    for plane in &rows.bits {
        let _same = plane.map(rows.rows, |plane: &Plane| {
            each(1);
            plane.clone()
        });
    }
    for column in &rows.r128 {
        let _same = column.map(rows.rows, |column: &Vec<u128>| {
            each(1);
            column.clone()
        });
    }
    count.get()
}

#[test]
fn assistants_keep_nothing() {
    let data = Block { rows: 70, r128: vec![vec![5; 70], vec![9; 70]], ..Block::default() };
    let kept = servers(&Options::default(), |b| {
        let x = shared(b, &data)?;
        let before = held(&x);
        let product = b.mul(&[&x.r128[0]], &[&x.r128[1]])?;
        let scaled = b.multiply_within(&[vec![(&x.r128[0], &x.r128[1])]], 3, &[[16; 2]])?;
        let bit = b.sign_within(&x.r128[0], 40)?.expect("a sign");
        let chosen = b.select(&[&bit], &[&x.r128[1]])?;
        let shifted = b.truncate(&[&x.r128[0]], 2)?;
        let sum = linear::add(&product[0], &chosen[0]);
        let made =
            Rows { bits: vec![bit], r128: [product, scaled, chosen, shifted, vec![sum]].concat(), ..Rows::empty(70) };
        let shuffled = b.shuffle(made)?;
        Ok([before, held(&shuffled)])
    });
    assert!(kept[..PRIMARY].iter().all(|kept| *kept == [2, 6]), "{kept:?}");
    assert!(kept[PRIMARY..].iter().all(|kept| *kept == [0, 0]), "{kept:?}");
}

/// The threshold is one: any two servers have a private number, from what they received and what they hold.
#[test]
fn two_servers_together_read_a_number() {
    let x: Vec<u128> = Prg::new(&tacit_views::seed("two of four servers")).vector(4);
    let y: Vec<u128> = x.iter().map(|x| x.wrapping_mul(3)).collect();
    let data = Block { rows: 4, r128: vec![x.clone(), y.clone()], ..Block::default() };
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let views = servers(&options, |b| {
        let shares = shared(b, &data)?;
        let transcript = b.session().transcript().expect("a transcript");
        let _before = transcript.take_seen();
        let _product = b.mul(&[&shares.r128[0]], &[&shares.r128[1]])?;
        let seen = transcript.take_seen();
        let received = |from: usize| -> Vec<u128> {
            let found = seen.iter().filter(|seen| seen.source == Source::Received(PartyId(from)));
            let bytes: Vec<u8> = found.flat_map(|seen| seen.bytes.clone()).collect();
            bytes.chunks(16).map(|word| u128::from_le_bytes(word.try_into().expect("a word"))).collect()
        };
        let own = Cell::new(None);
        let _same = shares.r128[0].map(4, |x: &Vec<u128>| {
            own.set(Some(x.clone()));
            x.clone()
        });
        Ok((own.take(), [received(0), received(1)]))
    });
    let sum = |a: &[u128], b: &[u128]| a.iter().zip(b).map(|(a, b)| a.wrapping_add(*b)).collect::<Vec<_>>();
    let [(first, _), (second, _), (none, at_a), (_, at_b)] = &views[..] else { unreachable!("four servers") };
    assert!(none.is_none());
    // S1 and S2: both shares. Sa and Sb: x1' and x2', y2' and y1'.
    assert_eq!(sum(first.as_ref().expect("x1"), second.as_ref().expect("x2")), x);
    assert_eq!((sum(&at_a[0], &at_b[1]), sum(&at_a[1], &at_b[0])), (x.clone(), y));
    // S2 and Sa: r is x1' - x1 for S1; S2 knows it, and takes it from what Sa was sent.
    let r: Vec<u128> =
        second.as_ref().expect("x2").iter().zip(&at_b[1]).map(|(x2, sent)| x2.wrapping_sub(*sent)).collect();
    let from_a: Vec<u128> = at_a[0].iter().zip(&r).map(|(sent, r)| sent.wrapping_sub(*r)).collect();
    assert_eq!(sum(&from_a, second.as_ref().expect("x2")), x, "S2, which has r, with Sa");
}

#[test]
fn an_owner_of_any_place_shares_its_data() {
    for owner in 0..SERVERS.len() {
        let data = Block::random(
            Shape { bits: 1, r32: 1, r64: 1, r128: 1, rows: 67 },
            &mut Prg::new(&tacit_views::seed("owners")),
        );
        let opened = servers(&Options::default(), |b| {
            let own = (b.session().me().0 == owner).then(|| data.clone());
            let x = b.input(PartyId(owner), data.shape(), own)?;
            opened(b, &x)
        });
        for opened in opened {
            assert!(opened.r32 == data.r32 && opened.r64 == data.r64 && opened.r128 == data.r128);
            assert!(opened.bits[0].to_bools() == data.bits[0].to_bools());
        }
    }
}

/// What each server sees of comparisons in a ring of 32 bits, run by run: messages, what it drew, and its shares.
fn comparisons(runs: usize) -> Vec<Vec<Run>> {
    let seed = tacit_views::seed("views of comparisons");
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    servers(&options, |b| {
        let transcript = b.session().transcript().expect("a transcript");
        // With it the OTs are set up, which all runs then have.
        let zero = b.public_vector(1, || vec![0u32]);
        let _set_up = b.less_than(&zero, &zero)?;
        let one = |run: usize| {
            let drawn: Vec<u32> = Prg::new(&seed.derive(&run.to_string())).vector(2);
            let x = (drawn[0].cast_signed() >> 12).cast_unsigned();
            let y = (drawn[1].cast_signed() >> 12).cast_unsigned();
            let data = Block { rows: 1, r32: vec![vec![x], vec![y]], ..Block::default() };
            let shares = shared(b, &data)?;
            let _of_the_input = View::of(&transcript);
            let less = b.less_than(&shares.r32[0], &shares.r32[1])?;
            let mut view = looked_at(&View::of(&transcript).only(&[Kind::Received, Kind::Drawn]));
            for (name, share) in [("x", &shares.r32[0]), ("y", &shares.r32[1]), ("less", &less)] {
                let own = Cell::new(None);
                let _same = share.map(1, |share: &Vec<u32>| {
                    own.set(Some(share[0]));
                    share.clone()
                });
                own.take().into_iter().for_each(|own| view.add(Kind::Own, name, own.to_le_bytes()));
            }
            let is_less = u8::from(x.cast_signed() < y.cast_signed());
            let secret =
                [x, y].into_iter().fold(View::default(), |view, x| view.with(Kind::Own, "secret", x.to_le_bytes()));
            Ok(Run { view, known: View::default(), secret: secret.with(Kind::Own, "result", [is_less]) })
        };
        (0..runs).map(one).collect::<Result<Vec<Run>>>()
    })
}

/// The lowest bit of each word, of long messages of one word in sixteen: a view of all has hundreds of thousands of
/// bits.
fn looked_at(view: &View) -> View {
    const LONG: usize = 64 * 64;
    let lengths: Vec<usize> = view.parts().iter().map(|part| part.bits()).collect();
    view.cut(|part, bit| bit % 64 == 0 && (lengths[part] <= LONG || bit / 64 % 16 == 0))
}

// views: crates/mpc/src/backends/four/compare.rs Four::sign_within
#[test]
fn comparisons_tell_no_server_anything() {
    let both = |(first, second): (&Run, &Run)| {
        let mut view = first.view.clone();
        view.extend(second.view.clone());
        first.seeing(view)
    };
    let one = comparisons(1);
    let together = runs_needed(&both((&one[2][0], &one[3][0])));
    let needed = one.iter().map(|runs| runs_needed(&runs[0])).fold(together, usize::max);
    let views = comparisons(needed + 64);
    for (runs, server) in views.iter().zip(SERVERS) {
        assert_eq!(leaks(runs), [], "{server} of {needed} runs");
        assert_eq!(correlated(runs), [], "{server} of {needed} runs");
    }
    // Two together: both assistants have both shares of x - y, and its lowest bit is one of x's XOR one of y's.
    let together: Vec<Run> = views[2].iter().zip(&views[3]).map(both).collect();
    assert_ne!(leaks(&together), [], "the test finds what two assistants see together");
}
