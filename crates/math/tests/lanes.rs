//! Every kernel computes by several threads what it computes by one.

use tacit_math::{Plane, Prg, Ring, Seed, Workers, permutation, ring, transpose};

/// Enough for several lanes, and no whole number of words.
const ROWS: usize = 200_003;

/// The same by one thread and by five.
fn alike<T: PartialEq + Send>(name: &str, compute: impl Fn() -> T + Sync) {
    let by = |threads| Workers::new(threads).expect("threads").run(&compute);
    assert!(by(1) == by(5), "{name}");
}

fn prg() -> Prg {
    Prg::new(&Seed::from_bytes([31; 16]))
}

fn rows_are_alike<R: Ring>() {
    let (x, y): (Vec<R>, Vec<R>) = (prg().vector(ROWS), prg().vector(ROWS));
    let order = permutation::random(ROWS, &mut prg());
    alike("sum", || ring::add(&x, &y));
    alike("difference", || ring::sub(&x, &y));
    alike("multiple", || ring::scale(&x, R::from_u128(3)));
    alike("prefix sums", || ring::prefix_sum(&x));
    alike("differences", || ring::differences(&x));
    alike("total", || ring::sum(&x));
    alike("gather", || ring::gather(&x, &order));
    alike("scatter", || ring::scatter(&x, &order));
    assert!(
        ring::scatter(&x, &order)
            == permutation::scatter(&x.iter().map(|x| x.to_u128()).collect::<Vec<_>>(), &order)
                .into_iter()
                .map(R::from_u128)
                .collect::<Vec<R>>()
    );
    let width = R::BITS as usize;
    let words = |planes: Vec<Plane>| planes.iter().map(|plane| plane.words().to_vec()).collect::<Vec<_>>();
    alike("planes", || words(transpose::planes_of_ring(&x, width - 3)));
    let planes = transpose::planes_of_ring(&x, width);
    let planes: Vec<&Plane> = planes.iter().collect();
    alike("rows", || transpose::ring_of_planes::<R>(&planes, ROWS));
    assert!(transpose::ring_of_planes::<R>(&planes, ROWS) == x);
}

#[test]
fn vectors() {
    rows_are_alike::<u32>();
    rows_are_alike::<u64>();
    rows_are_alike::<u128>();
}

#[test]
fn orders() {
    let order = || permutation::random(ROWS, &mut prg());
    alike("random order", order);
    let (mut twice, mut beyond) = (order(), order());
    twice[7] = twice[ROWS - 1];
    beyond[ROWS / 2] = ROWS as u32;
    for (numbers, expected) in [(order(), true), (twice, false), (beyond, false)] {
        alike("is a permutation", || permutation::is_permutation(&numbers));
        assert_eq!(permutation::is_permutation(&numbers), expected);
    }
}

#[test]
fn planes() {
    let words = |planes: Vec<Plane>| planes.iter().map(|plane| plane.words().to_vec()).collect::<Vec<_>>();
    let random = || Plane::random_all(&[ROWS, 5, 0, ROWS], &mut prg());
    alike("random planes", || words(random()));
    let mut one_by_one = prg();
    assert!(words(random()) == words([ROWS, 5, 0, ROWS].map(|rows| Plane::random(rows, &mut one_by_one)).into()));
    for count in [7, 40] {
        let planes = Plane::random_all(&vec![ROWS; count], &mut prg());
        let planes: Vec<&Plane> = planes.iter().collect();
        let order = permutation::random(ROWS, &mut prg());
        alike("gather", || words(transpose::gather_planes(&planes, &order)));
        alike("scatter", || words(transpose::scatter_planes(&planes, &order)));
        alike("XOR", || words(Plane::xor_all(&planes[1..], &planes[..count - 1])));
        alike("prefix XOR", || words(Plane::map_all(&planes, Plane::prefix_xor)));
        let expected: Vec<Plane> = (1..count).map(|i| planes[i].xor(planes[i - 1])).collect();
        assert!(words(Plane::xor_all(&planes[1..], &planes[..count - 1])) == words(expected));
    }
    assert!(Plane::xor_all(&[&Plane::zeros(0)], &[&Plane::zeros(0)])[0].rows() == 0);
}
