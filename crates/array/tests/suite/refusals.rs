//! What has no plan, and what must not be run.

use tacit_array::functions::{Angle, Circle, Curve, Divide, Exp, Interval, Log, Odd, Refused, Root};

use super::world::{Plan, on_clear};

#[test]
fn what_has_no_value_is_refused() {
    let around = Interval::new(-100, 100);
    assert_eq!(Divide::reciprocal(64, 16, around, 0, 16).err(), Some(Refused::Domain));
    assert_eq!(Divide::reciprocal(64, 16, around, 1, 16).err(), Some(Refused::Domain));
    assert_eq!(Divide::reciprocal(64, 16, Interval::new(0, 100), 0, 16).err(), Some(Refused::Domain));
    assert_eq!(Root::of(64, 16, around, 16).err(), Some(Refused::Domain));
    assert_eq!(Root::inverse(64, 16, Interval::new(0, 100), 16).err(), Some(Refused::Domain));
    assert_eq!(Log::new(64, 16, Interval::new(0, 100), 16).err(), Some(Refused::Domain));
}

#[test]
fn what_does_not_fit_is_refused() {
    let exp = |low: i128, high: i128, f: usize| Exp::new(64, f, Interval::new(low << f, high << f), f);
    assert_eq!(exp(-10, 40, 16).err(), Some(Refused::Room));
    assert_eq!(exp(-400, 0, 16).err(), Some(Refused::Room));
    assert_eq!(exp(-1, 0, 32).err(), Some(Refused::Room));
    // 1 / y of y = 1 unit has 2 * 24 bits.
    assert_eq!(Divide::reciprocal(64, 24, Interval::new(1, 1 << 30), 0, 24).err(), Some(Refused::Room));
    let beyond = Interval::new(0, 1 << 62);
    assert_eq!(Odd::new(64, 16, beyond, 16, Curve::Tanh).err(), Some(Refused::Room));
    assert_eq!(Circle::new(64, 16, beyond, 16, Angle::Sine).err(), Some(Refused::Room));
}

#[test]
fn what_is_not_precise_is_refused() {
    let small = Interval::new(-100, 100);
    assert_eq!(Odd::new(128, 32, small, 32, Curve::Sigmoid).err(), Some(Refused::Precision));
    assert_eq!(Circle::new(64, 16, Interval::new(0, 1 << 50), 16, Angle::Sine).err(), Some(Refused::Precision));
    assert_eq!(Log::new(128, 40, Interval::new(1, 1 << 50), 40).err(), Some(Refused::Precision));
}

#[test]
#[should_panic(expected = "a plan for this ring")]
fn a_plan_is_for_one_ring() {
    let plan = Exp::new(64, 16, Interval::new(-1, 0), 16).expect("a plan");
    let _ = on_clear::<u128>(&Plan::Exp(plan), &[vec![0]]);
}
