//! A join of masked rows in orders that nobody can trace: the common part of PS3I and of matching by several
//! identifiers.
//!
//! **Computes** for both parties the same list of pairs of rows that belong together, as positions in two orders, one
//! for each table. A table's order is made of two shuffles, the first known to its owner alone and the second to the
//! peer alone. **Adversary** semi-honest. **Discloses** to both the public sizes and the graph of equal identifiers
//! among the shuffled rows, with the sender's columns in order, up to the names of the rows. With one identifier a row,
//! distinct in each table, that is the size of the intersection and nothing more. A party whose own rows differ in how
//! their identifiers repeat or go together recognises rows by that in the graph, and so learns which counterparts they
//! have.
//!
//! **Steps** alike at both parties:
//!
//! 1. a party sends its identifiers, hashed and raised to its exponent, in its own shuffle of its rows;
//! 2. it raises those of the peer to its exponent and returns them as tags, in its shuffle of the peer's rows;
//! 3. both have the tags of both tables, and join them by the same rule.
//!
//! **Source** the exchange of doubly masked identifiers in PS3I, Buddhavarapu et al., "Private Matching for Compute"
//! (ePrint 2020/599), section 4. Its extension to several identifiers: Buddhavarapu, Case, Gore, Knox, Mohassel,
//! Sengupta, Taubeneck, Xue, "Multi-key Private Matching for Compute" (ePrint 2021/770). The collecting variant:
//! Movahedi et al., "Privacy-Preserving Randomized Controlled Trials" (section 2.3).
//!
//! **Cost** 3 rounds, the first of 16 bytes each. There are N and M identifiers in all (empty ones included), and tags
//! have b = 42 + log2(N M) bits. A party sends 32 N + ceil(b / 8) M bytes and does N + M multiplications.
//!
//! **Departures** doubly masked identifiers go as tags. Rows with fewer identifiers than the table has columns are
//! filled with random ones, which match nothing, so that how many a row has is not told. Both parties see the graph,
//! not only one.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::interface::role::Role;
use crate::parts::group::{ENCODING_BYTES, Encoding, Exponent, HashToGroup};
use crate::parts::masking::{AGREE_BYTES, agree, receive_points, receive_tags, send_masked, send_tags, tag_bytes};
use crate::parts::tag_map::{Spread, TagMap};
use crate::parts::tags::{TagHash, tag_bits};
use crate::wrong_input::WrongInput;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session, Traffic};

/// Where steps of a session are located, and what the random oracles are bound to.
const NAME: &str = "blind-join";

/// The public shape of both tables of identifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of each party.
    pub rows: Sizes,
    /// Identifiers a row at each party.
    pub columns: Sizes,
}

/// What rows belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Every row has one counterpart at most. The sender's columns are its identifiers by falling priority. First all
    /// rows that share an identifier of the sender's first column are paired, then those left by its second, and so on.
    Single,
    /// Every pair of rows that share an identifier. Rows with more than one counterpart are contaminated: they are
    /// counted, and dropped where asked.
    Collect {
        /// Drop contaminated rows of the sender.
        drop_sender: bool,
        /// Drop contaminated rows of the receiver.
        drop_receiver: bool,
        /// The most pairs; if there may be more, both parties end.
        most: u64,
    },
}

/// Rows that belong together, and how many rows of each party have more than one counterpart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Joined {
    /// Positions: the sender's row, the receiver's row.
    pub pairs: Vec<(u32, u32)>,
    /// Rows of the sender and of the receiver that share identifiers with more than one counterpart, whatever the rule
    /// makes of them.
    pub contaminated: (usize, usize),
}

/// What a party knows after the join.
pub(crate) struct BlindJoin {
    pub joined: Joined,
    /// This party's own shuffle of its rows: the row at each position in which it sent them.
    pub mine: Vec<u32>,
    /// This party's shuffle of the peer's rows: for each index in it, the position at which the peer sent that row.
    pub theirs: Vec<u32>,
}

/// Identifiers of a table, row by row; `None` where a row has none in a column.
pub type Identifiers = [Option<Item>];

impl Shape {
    /// Identifiers of each table, empty ones included.
    pub fn identifiers(self) -> Sizes {
        let Self { rows, columns } = self;
        Sizes { sender: rows.sender * columns.sender, receiver: rows.receiver * columns.receiver }
    }

    /// Bits of a tag.
    pub fn tag_bits(self) -> u32 {
        let Sizes { sender, receiver } = self.identifiers();
        tag_bits(sender as u128 * receiver as u128)
    }
}

/// What the join costs.
pub fn cost(shape: Shape) -> Traffic {
    let Sizes { sender, receiver } = shape.identifiers();
    let tag = tag_bytes(shape.tag_bits());
    let bytes = |mine, theirs| AGREE_BYTES + (ENCODING_BYTES * mine + tag * theirs) as u64;
    Traffic { rounds: 3, sender: bytes(sender, receiver), receiver: bytes(receiver, sender) }
}

/// Runs the join.
pub(crate) fn run(
    session: &mut Session,
    peer: PartyId,
    role: Role,
    identifiers: &Identifiers,
    shape: Shape,
    rule: Rule,
) -> Result<BlindJoin, PsiError> {
    let Shape { rows, columns } = shape;
    let (rows, columns) = match role {
        Role::Sender => ([rows.sender, rows.receiver], [columns.sender, columns.receiver]),
        Role::Receiver => ([rows.receiver, rows.sender], [columns.receiver, columns.sender]),
    };
    if identifiers.len() != rows[0] * columns[0] {
        let (given, announced) = (identifiers.len(), rows[0] * columns[0]);
        return Err(WrongInput::Identifiers { given, announced }.into());
    }
    if columns.contains(&0) {
        return Err(WrongInput::NoIdentifiers.into());
    }
    session.enter(NAME);
    let mut prg = Prg::new(&Seed::random()?);
    let [mine, theirs] = rows.map(|rows| permutation::random(rows, &mut prg));
    let context = agree(session, peer, NAME)?;
    let (exponent, hash) = (Exponent::random()?, HashToGroup::new(&context));
    let tags = TagHash::new(&context, shape.tag_bits());

    // Step 1.
    session.next_round();
    let mut items = shuffle_rows(&fill(identifiers, &mut prg), columns[0], &mine);
    if role == Role::Receiver {
        shuffle_within_rows(&mut items, columns[0], &mut prg);
    }
    send_masked(session, peer, &exponent, &hash, &items)?;
    // Step 2.
    let points = receive_points(session, peer, rows[1] * columns[1])?;
    let twice = exponent.raise(&points).map_err(|place| place.sent_by(session, peer))?;
    let tag = |point: &Encoding| tags.of_point(point);
    let theirs_tags = shuffle_rows(&twice.iter().map(tag).collect::<Vec<_>>(), columns[1], &theirs);

    session.next_round();
    send_tags(session, peer, &theirs_tags, shape.tag_bits())?;
    let mine_tags = receive_tags(session, peer, rows[0] * columns[0], shape.tag_bits())?;
    session.leave();
    // Step 3.
    let (sender, receiver) = match role {
        Role::Sender => (&mine_tags, &theirs_tags),
        Role::Receiver => (&theirs_tags, &mine_tags),
    };
    let joined = join(sender, receiver, shape.columns, rule, Spread::random()?)?;
    Ok(BlindJoin { joined, mine, theirs })
}

/// Random identifiers in the place of missing ones.
fn fill(identifiers: &Identifiers, prg: &mut Prg) -> Vec<Item> {
    let random: Vec<Item> = prg.vector(identifiers.len());
    identifiers.iter().zip(random).map(|(item, random)| item.unwrap_or(random)).collect()
}

/// Row `order[i]` of a row-major table comes to place i.
fn shuffle_rows<T: Copy>(table: &[T], columns: usize, order: &[u32]) -> Vec<T> {
    order.iter().flat_map(|&row| &table[row as usize * columns..][..columns]).copied().collect()
}

/// Every row's columns in a random order of their own.
fn shuffle_within_rows(table: &mut [Item], columns: usize, prg: &mut Prg) {
    if columns > 1 {
        for row in table.chunks_mut(columns) {
            let order = permutation::random(columns, prg);
            let shuffled = permutation::gather(row, &order);
            row.copy_from_slice(&shuffled);
        }
    }
}

/// Applies a rule to two row-major tables of tags.
///
/// # Errors
/// [`PsiError::Pairs`].
fn join(sender: &[u128], receiver: &[u128], columns: Sizes, rule: Rule, spread: Spread) -> Result<Joined, PsiError> {
    if sender.is_empty() || receiver.is_empty() {
        return Ok(Joined::default());
    }
    let of_sender = contaminated(sender, columns.sender, receiver, columns.receiver, spread);
    let of_receiver = contaminated(receiver, columns.receiver, sender, columns.sender, spread);
    let pairs = match rule {
        Rule::Single => single_pairs(sender, receiver, columns, spread),
        Rule::Collect { drop_sender, drop_receiver, most } => {
            let sides = [
                Side { tags: sender, columns: columns.sender, dropped: drop_sender.then_some(&of_sender) },
                Side { tags: receiver, columns: columns.receiver, dropped: drop_receiver.then_some(&of_receiver) },
            ];
            all_pairs(sides, most, spread)?
        }
    };
    let count = |rows: &[bool]| rows.iter().filter(|&&row| row).count();
    Ok(Joined { pairs, contaminated: (count(&of_sender), count(&of_receiver)) })
}

/// Which rows share tags with more than one row of the other table.
fn contaminated(mine: &[u128], columns: usize, theirs: &[u128], their_columns: usize, spread: Spread) -> Vec<bool> {
    let mut owners: TagMap<(usize, bool)> = TagMap::with_capacity_and_hasher(theirs.len(), spread);
    for (place, &tag) in theirs.iter().enumerate() {
        let row = place / their_columns;
        let (first, several) = owners.entry(tag).or_insert((row, false));
        *several |= *first != row;
    }
    let several = |row: &[u128]| {
        let mut found = row.iter().filter_map(|tag| owners.get(tag));
        let Some(&(first, several)) = found.next() else { return false };
        several || found.any(|&(row, several)| several || row != first)
    };
    mine.chunks(columns).map(several).collect()
}

/// No further row.
const LAST: u32 = u32::MAX;

/// The rows that have each tag, as lists: the first row by tag, and behind each place of a table the next row with its
/// tag.
struct Lists {
    first: TagMap<u32>,
    next: Vec<u32>,
}

impl Lists {
    /// Lists over `places` places, of which those given are listed, the last one first.
    fn new(places: usize, tags: impl Iterator<Item = (u32, u128)>, spread: Spread) -> Self {
        let mut lists = Self { first: TagMap::with_capacity_and_hasher(places, spread), next: vec![LAST; places] };
        for (place, tag) in tags {
            lists.next[place as usize] = lists.first.insert(tag, place).unwrap_or(LAST);
        }
        lists
    }

    /// The places that have a tag.
    fn places(&self, tag: u128) -> impl Iterator<Item = u32> + '_ {
        let first = self.first.get(&tag).copied();
        std::iter::successors(first, |&place| Some(self.next[place as usize]).filter(|&next| next != LAST))
    }

    /// The first place that has a tag and is free. Those before it are taken off the list.
    fn first_free(&mut self, tag: u128, free: &[bool]) -> Option<u32> {
        let first = self.first.get_mut(&tag)?;
        while *first != LAST && !free[*first as usize] {
            *first = self.next[*first as usize];
        }
        Some(*first).filter(|&first| first != LAST)
    }
}

/// Rows of the sender by priority of its columns; a receiver's row takes the first row of the sender that is free.
fn single_pairs(sender: &[u128], receiver: &[u128], columns: Sizes, spread: Spread) -> Vec<(u32, u32)> {
    let rows = sender.len() / columns.sender;
    let mut free_sender = vec![true; rows];
    let mut free_receiver = vec![true; receiver.len() / columns.receiver];
    let mut pairs = Vec::new();
    for priority in 0..columns.sender {
        let waiting = sender.chunks(columns.sender).enumerate().rev().filter(|(row, _)| free_sender[*row]);
        let mut lists = Lists::new(rows, waiting.map(|(row, tags)| (row as u32, tags[priority])), spread);
        for (theirs, tags) in receiver.chunks(columns.receiver).enumerate().filter(|(row, _)| free_receiver[*row]) {
            if let Some(row) = tags.iter().filter_map(|&tag| lists.first_free(tag, &free_sender)).min() {
                free_sender[row as usize] = false;
                pairs.push((row, theirs as u32));
            }
        }
        pairs.iter().for_each(|&(_, theirs)| free_receiver[theirs as usize] = false);
    }
    pairs.sort_unstable();
    pairs
}

/// A table of which all pairs are collected.
struct Side<'a> {
    tags: &'a [u128],
    columns: usize,
    /// Which rows are left out.
    dropped: Option<&'a Vec<bool>>,
}

impl<'a> Side<'a> {
    /// The places of rows that are not left out, and their tags.
    fn places(&self) -> impl Iterator<Item = (u32, u128)> + use<'a> {
        let (columns, dropped) = (self.columns, self.dropped);
        let stays = move |place: usize| !dropped.is_some_and(|rows| rows[place / columns]);
        self.tags.iter().enumerate().filter(move |&(place, _)| stays(place)).map(|(place, &tag)| (place as u32, tag))
    }
}

/// Every pair of rows that share a tag, once.
///
/// # Errors
/// [`PsiError::Pairs`] if equal tags are more than `most` pairs. Pairs that share several tags count as often.
fn all_pairs([sender, receiver]: [Side<'_>; 2], most: u64, spread: Spread) -> Result<Vec<(u32, u32)>, PsiError> {
    let mut times: TagMap<u64> = TagMap::with_capacity_and_hasher(sender.tags.len(), spread);
    sender.places().for_each(|(_, tag)| *times.entry(tag).or_default() += 1);
    let pairs = receiver.places().filter_map(|(_, tag)| times.get(&tag)).fold(0, |sum: u64, n| sum.saturating_add(*n));
    if pairs > most {
        return Err(PsiError::Pairs { pairs, most });
    }
    drop(times);
    let lists = Lists::new(sender.tags.len(), sender.places(), spread);
    let counterparts = |(place, tag): (u32, u128)| {
        let theirs = place / receiver.columns as u32;
        lists.places(tag).map(move |place| (place / sender.columns as u32, theirs))
    };
    let mut pairs: Vec<(u32, u32)> = receiver.places().flat_map(counterparts).collect();
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Sizes = Sizes { sender: 2, receiver: 2 };

    fn of_tables(sender: &[u128], receiver: &[u128], rule: Rule) -> Joined {
        join(sender, receiver, TWO, rule, Spread::random().expect("randomness")).expect("few pairs")
    }

    #[test]
    fn a_higher_priority_wins_over_an_earlier_row() {
        // The sender's second row matches by its first column what its first row matches by its second.
        let joined = of_tables(&[1, 7, 7, 2], &[7, 9, 1, 8], Rule::Single);
        assert_eq!(joined.pairs, [(0, 1), (1, 0)]);
        let joined = of_tables(&[1, 7, 7, 2], &[7, 9], Rule::Single);
        assert_eq!(joined.pairs, [(1, 0)]);
    }

    #[test]
    fn a_row_has_one_counterpart() {
        // Both rows of the receiver know the sender's first row; the second then takes the next row with that
        // identifier.
        let joined = of_tables(&[1, 2, 1, 3], &[1, 2, 1, 9], Rule::Single);
        assert_eq!(joined.pairs, [(0, 0), (1, 1)]);
        let joined = of_tables(&[1, 2], &[1, 2, 2, 1], Rule::Single);
        assert_eq!(joined.pairs, [(0, 0)]);
    }

    #[test]
    fn collecting_counts_and_drops_contaminated_rows() {
        let (sender, receiver) = ([1, 2, 2, 3, 4, 5], [1, 2, 3, 6, 5, 4]);
        let collect = |drop_sender, drop_receiver| {
            let joined = of_tables(&sender, &receiver, Rule::Collect { drop_sender, drop_receiver, most: 6 });
            assert_eq!(joined.contaminated, (1, 1));
            joined.pairs
        };
        assert_eq!(collect(false, false), [(0, 0), (1, 0), (1, 1), (2, 2)]);
        assert_eq!(collect(true, false), [(0, 0), (2, 2)]);
        assert_eq!(collect(false, true), [(1, 1), (2, 2)]);
        assert_eq!(collect(true, true), [(2, 2)]);
    }
    #[test]
    fn more_pairs_than_are_allowed_end_the_join_before_they_are_made() {
        // One tag in 2^17 rows of each table: 2^34 pairs.
        let table = vec![7; 1 << 17];
        let one = Sizes { sender: 1, receiver: 1 };
        let spread = Spread::random().expect("randomness");
        let joined = |dropped, most| {
            let rule = Rule::Collect { drop_sender: dropped, drop_receiver: dropped, most };
            join(&table, &table, one, rule, spread)
        };
        let error = joined(false, 1 << 30).expect_err("too many").to_string();
        assert!(error.contains("17,179,869,184 pairs") && error.contains("the 1,073,741,824 that"), "{error}");
        let joined = joined(true, 0).expect("rows that are left out make no pairs");
        assert_eq!((joined.pairs.len(), joined.contaminated), (0, (1 << 17, 1 << 17)));
    }
}
