//! Errors.

use tacit_array::functions::{Angle, Circle, Curve, Divide, Exp, Interval, Log, Odd, Root};
use tacit_math::Prg;
use tacit_mpc::backends::{Components, Rep3, Two};
use tacit_views::seed;

use super::world::{Columned, Plan, declared, element, numbers, on_clear, on_nodes, signed};

/// A function with the interval that it is planned for.
struct Case {
    name: String,
    plan: Plan,
    fraction: usize,
    interval: Interval,
    /// What the size of a number is at least.
    least: i128,
    result: usize,
    exact: fn(f64) -> f64,
}

/// Numbers of the real interval, as integers.
fn scaled(low: f64, high: f64, fraction: usize) -> Interval {
    let unit = (fraction as f64).exp2();
    Interval::new((low * unit).ceil() as i128, (high * unit).floor() as i128)
}

/// erf by its series and, far out, by a continued fraction: for the test alone.
fn erf(x: f64) -> f64 {
    if x.abs() < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    let tail = (1..60).rev().fold(0.0, |tail, n| f64::from(n) / 2.0 / (x.abs() + tail));
    x.signum() * (1.0 - (-x * x).exp() / (x.abs() + tail) / std::f64::consts::PI.sqrt())
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn exponentials(bits: usize, f: usize, cases: &mut Vec<Case>) {
    for (low, high) in
        [(-1.0, 1.0), (-4.0, 0.0), (-8.0, 0.0), (-18.0, 0.0), (-40.0, 0.0), (-80.0, 0.0), (-6.0, 3.0), (5.0, 6.0)]
    {
        let interval = scaled(low, high, f);
        let Ok(plan) = Exp::new(bits, f, interval, f) else {
            assert!(bits == 64 && f > 13 && high > 0.0, "[{low}, {high}] with {f} bits fits {bits}");
            continue;
        };
        let name = format!("exp [{low}, {high}]");
        cases.push(Case { name, plan: Plan::Exp(plan), fraction: f, interval, least: 0, result: f, exact: f64::exp });
    }
}

fn circles(bits: usize, f: usize, cases: &mut Vec<Case>) {
    let reach = if bits == 64 { 42 - 2 * (f as i64 - 16).max(0) - f as i64 } else { 26 };
    let interval = scaled(-(reach as f64).exp2(), (reach as f64).exp2(), f);
    for (which, exact, name) in [(Angle::Sine, f64::sin as fn(f64) -> f64, "sin"), (Angle::Cosine, f64::cos, "cos")] {
        let plan = Circle::new(bits, f, interval, f, which).expect("a plan");
        let name = format!("{name} to 2^{reach}");
        cases.push(Case { name, plan: Plan::Circle(plan), fraction: f, interval, least: 0, result: f, exact });
    }
}

fn curves(bits: usize, f: usize, cases: &mut Vec<Case>) {
    let all = [
        (Curve::Sigmoid, sigmoid as fn(f64) -> f64, "sigmoid", [4.0, 8.0, 12.0, 100.0]),
        (Curve::Tanh, f64::tanh, "tanh", [2.0, 4.0, 6.0, 100.0]),
        (Curve::Erf, erf, "erf", [2.0, 3.0, 4.0, 100.0]),
    ];
    for (curve, exact, name, bounds) in all {
        for bound in bounds {
            let interval = scaled(-bound, bound, f);
            let plan = Odd::new(bits, f, interval, f, curve).expect("a plan");
            let name = format!("{name} to {bound}");
            cases.push(Case { name, plan: Plan::Odd(plan), fraction: f, interval, least: 0, result: f, exact });
        }
    }
}

fn normalised(bits: usize, f: usize, cases: &mut Vec<Case>) {
    let mut add = |name: String, plan: Plan, interval: Interval, least: i128, exact: fn(f64) -> f64| {
        cases.push(Case { name, plan, fraction: f, interval, least, result: f, exact });
    };
    for (low, high) in [(0.25, 8.0), (1.0, 1.999), (1.0, 500.0), (-16.0, -0.5), (-8.0, 8.0)] {
        let (interval, least) = (scaled(low, high, f), if low == -high { 1i128 << (f - 2) } else { 0 });
        let plan = Divide::reciprocal(bits, f, interval, least as u128, f).expect("a plan");
        add(format!("1 / y [{low}, {high}]"), Plan::Reciprocal(plan), interval, least, f64::recip);
    }
    for (low, high) in [(0.0, 4.0), (0.0, 1000.0), (0.5, 2.0), (1.0, 1.99)] {
        let interval = scaled(low, high, f);
        let Ok(plan) = Root::of(bits, f, interval, f) else {
            assert!(bits == 64 && f == 24 && high > 100.0, "sqrt to {high} with {f} bits fits {bits}");
            continue;
        };
        add(format!("sqrt [{low}, {high}]"), Plan::Root(plan), interval, 0, f64::sqrt);
    }
    for (low, high) in [(0.0625, 16.0), (0.5, 300.0)] {
        let interval = scaled(low, high, f);
        let plan = Root::inverse(bits, f, interval, f).expect("a plan");
        add(format!("1 / sqrt [{low}, {high}]"), Plan::Root(plan), interval, 0, |y| y.sqrt().recip());
    }
    for (low, high) in [(0.001, 1000.0), (0.5, 2.0), (1.0, 1.99)] {
        let interval = scaled(low, high, f);
        let plan = Log::new(bits, f, interval, f).expect("a plan");
        add(format!("ln [{low}, {high}]"), Plan::Log(plan), interval, 0, f64::ln);
    }
}

/// The largest error of results, in units.
fn worst<R: Columned>(case: &Case, x: &[i128], results: &[R]) -> f64 {
    let unit = (case.result as f64).exp2();
    let errors = x.iter().zip(results).map(|(&x, &result)| {
        let exact = (case.exact)(x as f64 / (case.fraction as f64).exp2()) * unit;
        let error = (signed(result) as f64 - exact).abs();
        // What floating-point arithmetic may be wrong itself.
        let own = exact.abs() * 1e-14 + 1e-9;
        assert!(
            error <= case.plan.error() + own,
            "{}, {}: {x} gives {}, not {exact}",
            case.name,
            case.result,
            signed(result)
        );
        error
    });
    errors.fold(0.0, f64::max)
}

fn check<B: Components, R: Columned>(case: &Case, many: usize, few: usize) {
    let name = format!("{} with {} of {} bits", case.name, case.fraction, R::BITS);
    let prg = &mut Prg::new(&seed(&name));
    let draw = |count, prg: &mut Prg| -> Vec<i128> {
        let all = numbers(count, case.interval, prg).into_iter();
        all.filter(|x| x.abs() >= case.least).collect()
    };
    let x = draw(many, prg);
    let column: Vec<R> = x.iter().map(|&x| element(x)).collect();
    let of_clear = worst(case, &x, &on_clear(&case.plan, &[column]));
    let x = draw(few, prg);
    let column: Vec<R> = x.iter().map(|&x| element(x)).collect();
    let (results, metered) = on_nodes::<B, R>(&case.plan, &[column], prg);
    let of_nodes = worst(case, &x, &results);
    assert_eq!(metered, declared::<B, R>(&case.plan, x.len()), "{name}: metered cost against declared cost");
    println!("{name}: clear {of_clear:.2}, nodes {of_nodes:.2}, stated {:.2}", case.plan.error());
}

fn cases(bits: usize, f: usize) -> Vec<Case> {
    let mut cases = vec![];
    exponentials(bits, f, &mut cases);
    circles(bits, f, &mut cases);
    curves(bits, f, &mut cases);
    normalised(bits, f, &mut cases);
    cases
}

#[test]
fn results_are_as_near_as_is_stated() {
    for f in [13, 16, 20, 24] {
        for case in cases(64, f) {
            check::<Rep3, u64>(&case, 3000, 400);
        }
    }
}

#[test]
fn results_of_the_large_ring_are_as_near_as_is_stated() {
    for f in [16, 24] {
        for case in cases(128, f) {
            check::<Rep3, u128>(&case, 800, 150);
        }
    }
}

#[test]
fn two_nodes_give_results_as_near_as_is_stated() {
    for case in cases(64, 16) {
        check::<Two, u64>(&case, 0, 60);
    }
}

/// With 16 fractional bits, what is stated is what programs are planned with.
#[test]
fn stated_errors_are_small() {
    for case in cases(64, 16) {
        let most = if case.name.starts_with("exp [-6") || case.name.starts_with("exp [5") { 4.0 } else { 2.5 };
        assert!(case.plan.error() <= most, "{}: {}", case.name, case.plan.error());
    }
}

/// x / y where the quotient is proved to be small, although x and y are not.
#[test]
fn quotients_are_as_near_as_is_stated() {
    for (f, wide, largest) in [(13, 10.0, 8.0), (16, 8.0, 8.0), (16, 12.0, 1.0), (20, 6.0, 4.0), (24, 3.0, 2.0)] {
        let (of_x, of_y) =
            (scaled(-(wide + 3.0f64).exp2(), (wide + 3.0f64).exp2(), f), scaled(0.125, f64::exp2(wide), f));
        let proved = (largest * (f as f64).exp2()) as u128;
        let plan = Divide::quotient(64, [(f, of_x), (f, of_y)], 0, Some(proved), f).expect("a plan");
        let prg = &mut Prg::new(&seed(&format!("quotients with {f} bits")));
        let y = numbers(600, of_y, prg);
        let quotients = numbers(600, Interval::new(-(proved as i128), proved as i128), prg);
        let turned: Vec<i128> = (0..600).map(|i| quotients[i * 277 % 600]).collect();
        let x: Vec<i128> =
            turned.iter().zip(&y).map(|(q, y)| (q * y) >> f).map(|x| x.clamp(of_x.low, of_x.high)).collect();
        let columns: [Vec<u64>; 2] = [&x, &y].map(|column| column.iter().map(|&x| element(x)).collect());
        let plan = Plan::Quotient(plan);
        let (of_nodes, metered) = on_nodes::<Rep3, u64>(&plan, &columns, prg);
        assert_eq!(metered, declared::<Rep3, u64>(&plan, 600));
        let mut worst = 0.0f64;
        for results in [on_clear(&plan, &columns), of_nodes] {
            for (i, &result) in results.iter().enumerate() {
                let exact = x[i] as f64 / y[i] as f64 * (f as f64).exp2();
                let error = (signed(result) as f64 - exact).abs();
                assert!(error <= plan.error() + 1e-6, "{} / {}: {}, not {exact}", x[i], y[i], signed(result));
                worst = worst.max(error);
            }
        }
        println!("x / y with {f} bits to {largest}: {worst:.2}, stated {:.2}", plan.error());
    }
}
