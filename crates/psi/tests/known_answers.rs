//! What two versions of tacit must agree on, byte for byte: tokens, points, tags and their compressed sets, against
//! files.

use tacit_math::Seed;
use tacit_psi::Item;
use tacit_psi::group::{Exponent, HashToGroup};
use tacit_psi::tags::{SortedTags, TagHash};
use tacit_psi::tokens::TokenHash;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn tokens_of_identifiers() {
    let rows = ["", "a", "twelve bytes", "thirteen byte", "ann@example.org", &"x".repeat(28), &"y".repeat(29)];
    let ends: Vec<usize> =
        rows.iter().scan(0, |end, row| Some(std::mem::replace(end, *end + row.len()) + row.len())).collect();
    let mut tokens = Vec::new();
    TokenHash::new(&Seed::from_bytes([7; 16])).hash_rows(rows.concat().as_bytes(), &ends, &mut tokens);
    let lines: String = rows.iter().zip(tokens).map(|(row, token)| format!("{row:?} {token:032x}\n")).collect();
    assert_eq!(lines, include_str!("vectors/tokens.txt"));
}

#[test]
fn points_and_tags_of_diffie_hellman() {
    let exponent =
        |byte: u8| Exponent::from_bytes(&std::array::from_fn(|i| if i < 31 { byte } else { 1 })).expect("a scalar");
    let items: Vec<Item> = vec![0, 1, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef, Item::MAX];
    let masked = exponent(3).mask(&HashToGroup::new(b"known answers"), &items);
    let twice = exponent(200).raise(&masked).expect("points");
    let hash = TagHash::new(b"known answers", 44);
    let mut tags: Vec<u128> = twice.iter().map(|point| hash.of_point(point)).collect();
    let mut lines = String::new();
    for (((item, masked), twice), tag) in items.iter().zip(&masked).zip(&twice).zip(&tags) {
        let of_item = hash.of_item(*item, twice);
        lines += &format!("{item:032x} {} {} {tag:011x} {of_item:011x}\n", hex(masked), hex(twice));
    }
    tags.sort_unstable();
    lines += &format!("{}\n", hex(&SortedTags::write(&tags, 44)));
    assert_eq!(lines, include_str!("vectors/diffie-hellman.txt"));
}
