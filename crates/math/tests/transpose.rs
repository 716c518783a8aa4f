//! Rows to planes and back, against the definition bit by bit.

use proptest::prelude::*;
use tacit_math::{Plane, Prg, Seed, transpose};

const SIZES: [usize; 10] = [0, 1, 63, 64, 65, 127, 128, 511, 513, 1000];
const WIDTHS: [usize; 10] = [0, 1, 7, 17, 63, 64, 65, 100, 127, 128];

fn views(planes: &[Plane]) -> Vec<&Plane> {
    planes.iter().collect()
}

#[test]
fn planes_hold_the_bits_of_the_rows() {
    let mut prg = Prg::new(&Seed::from_bytes([21; 16]));
    for rows in SIZES {
        let wide: Vec<u128> = prg.vector(rows);
        let narrow: Vec<u64> = wide.iter().map(|&x| x as u64).collect();
        for width in WIDTHS {
            let planes = transpose::planes_of_wide_rows(&wide, width);
            assert_eq!(planes.len(), width);
            for (j, plane) in planes.iter().enumerate() {
                assert_eq!(plane.to_bools(), wide.iter().map(|x| x >> j & 1 == 1).collect::<Vec<_>>());
            }
            let kept: Vec<u128> = wide.iter().map(|x| if width == 128 { *x } else { x & ((1 << width) - 1) }).collect();
            assert_eq!(transpose::wide_rows_of_planes(&views(&planes), rows), kept, "{rows} rows, width {width}");
            if width <= 64 {
                let low = transpose::planes_of_rows(&narrow, width);
                for (a, b) in low.iter().zip(&planes) {
                    assert_eq!(a.to_bools(), b.to_bools());
                }
                let kept: Vec<u64> = kept.iter().map(|&x| x as u64).collect();
                assert_eq!(transpose::rows_of_planes(&views(&low), rows), kept, "{rows} rows, width {width}");
            }
        }
    }
}

#[test]
fn columns_become_rows() {
    fn check<const W: usize>(words: usize, prg: &mut Prg) {
        let columns: Vec<u64> = prg.vector(64 * W * words);
        let mut rows = vec![[0; W]; 64 * words];
        transpose::rows_of_columns(&columns, &mut rows);
        for (i, row) in rows.iter().enumerate() {
            for j in 0..64 * W {
                assert_eq!(row[j / 64] >> (j % 64) & 1, columns[j * words + i / 64] >> (i % 64) & 1);
            }
        }
    }
    let mut prg = Prg::new(&Seed::from_bytes([22; 16]));
    for words in [0, 1, 7, 8, 9, 24, 64] {
        check::<1>(words, &mut prg);
        check::<2>(words, &mut prg);
        check::<7>(words, &mut prg);
    }
}

#[test]
#[should_panic(expected = "columns of 65 rows")]
fn rows_come_in_words() {
    transpose::rows_of_columns(&[0; 130], &mut [[0; 2]; 65]);
}

#[test]
#[should_panic(expected = "planes of 65 rows")]
fn planes_must_have_the_rows() {
    transpose::rows_of_planes(&[&Plane::zeros(64)], 65);
}

#[test]
#[should_panic(expected = "a row word has 64 bits")]
fn width_of_words_is_bounded() {
    transpose::planes_of_rows(&[1], 65);
}

proptest! {
    #[test]
    fn square_is_its_own_inverse_and_transposes(seed: [u8; 16]) {
        let mut m = [0; 64];
        Prg::new(&Seed::from_bytes(seed)).fill(&mut m);
        let original = m;
        transpose::square(&mut m);
        for (i, row) in original.iter().enumerate() {
            for (j, column) in m.iter().enumerate() {
                prop_assert_eq!(row >> j & 1, column >> i & 1);
            }
        }
        transpose::square(&mut m);
        prop_assert_eq!(m, original);
    }

    #[test]
    fn there_and_back(rows in prop::collection::vec(any::<u64>(), 0..1200)) {
        let planes = transpose::planes_of_rows(&rows, 64);
        prop_assert_eq!(transpose::rows_of_planes(&views(&planes), rows.len()), rows);
    }
}
