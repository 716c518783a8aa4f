//! Unbalanced intersection: a large set is prepared once and asked about many times.
//!
//! **Computes** for a client which of its items the prepared set has. **Adversary** semi-honest. **Discloses** to the
//! client the size of the prepared set. For each item that the client asks about, it discloses whether the set has it
//! and at which position of a fixed random order. So the client sees when two of its questions meet the same item. To
//! the server it discloses how many items are asked about.
//!
//! **What the client keeps** is the published set: one tag an item, under the server's key k, and a multiple of the
//! base point by k. It says nothing about an item that the client does not ask the server about, as long as the key is
//! secret. **The key is per prepared set**: a set that changes is prepared anew under a new key, or the difference
//! would show. Whoever gets the key can try likely items against a published set.
//!
//! **Source** Resende, Aranha, "Faster Unbalanced Private Set Intersection" (FC 2018). The OPRF is 2HashDH of Jarecki,
//! Kiayias, Krawczyk, "Round-Optimal Password-Protected Secret Sharing and T-PAKE in the Password-Only Model"
//! (ASIACRYPT 2014), Figure 1. F(y) is a tag of (y, k H(y)). Secure under the one-more gap Diffie-Hellman assumption in
//! ristretto255, in the random oracle model. Questions are blinded by sums: Jarecki, Krawczyk, Xu, "On the (In)Security
//! of the Diffie-Hellman Oblivious PRF with Multiplicative Blinding" (PKC 2021), Figure 1. There the group is written
//! as a product. A blinded item is a uniformly random point, whatever the item is. Against a server that publishes
//! another multiple than its key's (not semi-honest) the OPRF would be a weaker function, which that paper gives.
//!
//! **A client that deviates** has a static Diffie-Hellman oracle. It asks about any point P, also an answer before, and
//! gets k P, as a question is no proof that its point is a blinded item. With q questions in sequence it has the
//! multiples of G by k, k^2, ... and finds k faster than a discrete logarithm (Cheon, "Security Analysis of the Strong
//! Diffie-Hellman Problem", EUROCRYPT 2006). The number 132 divides the group's order less 1, so 132 questions leave
//! about 2^122.5 steps. 7,210 divides the order plus 1, so 14,420 questions leave about 2^119.6. No larger divisor is
//! within the default budget of 2^20.
//!
//! **Cost** publishing: 1 round, [`published_bytes`] from the server. For n items and a budget of q asked items, tags
//! of b = 42 + log2(n q) bits take b - log2 n + 2 bits each, so 9.25 bytes for q = 2^30. Asking about m items: 2
//! rounds, 32 m bytes each way. The server does m multiplications, the client 2 m of a fixed point, which take about a
//! third of the time each, decoding, hashing and encoding included.
//!
//! **False matches** The set is prepared for a budget of asked items over its life; no asked item matches wrongly,
//! except with probability 2^-42 over the whole budget. The server refuses to answer beyond it.
//!
//! **Departures** Tags are sorted and written in the form of Elias and Fano in place of a filter: exact for its length
//! and a little shorter. A question is 2 (H(y) + r G) for a fresh r, its answer k/4 times that, and k H(y) = 2
//! (answer - r (k/2) G). Encodings of doubles need no square root.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Match};
use crate::parts::blinding::{Blinds, FixedPoint};
use crate::parts::group::{ENCODING_BYTES, Exponent, HashToGroup};
use crate::parts::masking::{receive_raised, receive_unblinded, send_blinded, send_points};
use crate::parts::tags::{SortedTags, TagHash, sorted_places, tag_bits};
use crate::wrong_input::WrongInput;
use tacit_net::{PartyId, Session, Traffic};
use zeroize::Zeroizing;

/// Where steps of a session are located.
const NAME: &str = "unbalanced";
/// First bytes of the two files.
const PUBLISHED: &[u8; 8] = b"tacitSE3";
const SECRET: &[u8; 8] = b"tacitSK2";
/// The largest budget: tags of less than 2^32 items then have 122 bits.
pub const LARGEST_BUDGET: u64 = 1 << 48;
/// Magic, context, number of items, budget.
const HEADER_BYTES: usize = 8 + 32 + 8 + 8;
/// What the secret file has between header and order: exponent, items answered.
const KEY_BYTES: usize = 32 + 8;

/// The public numbers of a prepared set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Header {
    context: [u8; 32],
    items: u32,
    budget: u64,
}

impl Header {
    fn bits(&self) -> u32 {
        tag_bits(u128::from(self.items) * u128::from(self.budget))
    }

    fn write(&self, magic: &[u8; 8]) -> Vec<u8> {
        let items = u64::from(self.items).to_le_bytes();
        [&magic[..], &self.context, &items, &self.budget.to_le_bytes()].concat()
    }

    fn read(bytes: &[u8], magic: &[u8; 8]) -> Option<Self> {
        let (found, rest) = bytes.split_first_chunk::<8>()?;
        let (context, rest) = rest.split_first_chunk::<32>()?;
        let (items, rest) = rest.split_first_chunk::<8>()?;
        let (budget, _) = rest.split_first_chunk::<8>()?;
        let items = u32::try_from(u64::from_le_bytes(*items)).ok()?;
        let header = Self { context: *context, items, budget: u64::from_le_bytes(*budget) };
        (found == magic && (1..=LARGEST_BUDGET).contains(&header.budget)).then_some(header)
    }
}

/// Bytes of a published set of `items` items for a budget of asked items.
pub fn published_bytes(items: usize, budget: u64) -> usize {
    HEADER_BYTES + ENCODING_BYTES + SortedTags::bytes(items, tag_bits(items as u128 * u128::from(budget)))
}

/// What a query about `asked` items costs; the server is the sender.
pub fn query_cost(asked: usize) -> Traffic {
    let bytes = (ENCODING_BYTES * asked) as u64;
    Traffic { rounds: 2, sender: bytes, receiver: bytes }
}

/// The server's prepared set with its key.
pub struct PreparedSet {
    header: Header,
    key: Exponent,
    answered: u64,
    order: Vec<u32>,
}

impl std::fmt::Debug for PreparedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PreparedSet({} items, {} of {} answered)", self.order.len(), self.answered, self.header.budget)
    }
}

impl PreparedSet {
    /// Evaluates distinct items under a fresh key, for `budget` asked items in all: the set to keep, and the published
    /// set to give to clients.
    ///
    /// # Errors
    /// [`PsiError::Input`] for no budget or one above [`LARGEST_BUDGET`], and for more than 2^32 - 1 items; no
    /// randomness.
    pub fn prepare(items: &[Item], budget: u64) -> Result<(Self, Vec<u8>), PsiError> {
        let count = u32::try_from(items.len()).ok().filter(|_| (1..=LARGEST_BUDGET).contains(&budget));
        let count = count.ok_or(WrongInput::PreparedSize)?;
        let mut context = [0; 32];
        getrandom::fill(&mut context)?;
        let header = Header { context, items: count, budget };
        let key = Exponent::random()?;
        // k H(y), its tags, and (k/2) G.
        let masked = key.mask(&HashToGroup::new(&context), items);
        let hash = TagHash::new(&context, header.bits());
        let tags: Vec<u128> = items.iter().zip(&masked).map(|(&item, point)| hash.of_item(item, point)).collect();
        let (sorted, order): (Vec<u128>, Vec<u32>) = sorted_places(&tags).into_iter().unzip();
        let mut published = header.write(PUBLISHED);
        published.extend(key.half().of_base());
        published.append(&mut SortedTags::write(&sorted, header.bits()));
        Ok((Self { header, key, answered: 0, order }, published))
    }

    /// The index of the item at each position that clients are told.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many asked items the budget still allows.
    pub fn left(&self) -> u64 {
        self.header.budget - self.answered
    }

    /// Goes on where `answered` items have been asked about in all, by the server's own count.
    ///
    /// # Errors
    /// [`PsiError::Input`] if `answered` is more than the budget, or less than what is known to have been asked about.
    pub fn go_on(&mut self, answered: u64) -> Result<(), PsiError> {
        if !(self.answered..=self.header.budget).contains(&answered) {
            return Err(WrongInput::Answered { answered }.into());
        }
        self.answered = answered;
        Ok(())
    }

    /// The set as a file that only the server may read. Written anew after each answer, it keeps the budget.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(Vec::with_capacity(HEADER_BYTES + KEY_BYTES + 4 * self.order.len()));
        out.extend(self.header.write(SECRET));
        out.extend_from_slice(&*self.key.expose());
        out.extend(self.answered.to_le_bytes());
        out.extend(self.order.iter().flat_map(|index| index.to_le_bytes()));
        out
    }

    /// The set that [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`PsiError::Input`] if the bytes are no such file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PsiError> {
        Ok(Self::parse(bytes).ok_or(WrongInput::NoPreparedSet)?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let header = Header::read(bytes, SECRET)?;
        let (key, rest) = bytes[HEADER_BYTES..].split_first_chunk::<32>()?;
        let (answered, order) = rest.split_first_chunk::<8>()?;
        let key = Exponent::from_bytes(key)?;
        let answered = Some(u64::from_le_bytes(*answered)).filter(|&answered| answered <= header.budget)?;
        let (order, tail) = order.as_chunks::<4>();
        let order: Vec<u32> = order.iter().map(|index| u32::from_le_bytes(*index)).collect();
        (tail.is_empty() && order.len() == header.items as usize).then_some(Self { header, key, answered, order })
    }

    /// Answers a client's query about `asked` items.
    ///
    /// # Errors
    /// [`PsiError::Input`], before anything is sent, if the budget does not allow it; the connection's failure, or a
    /// client that deviates.
    pub fn answer(&mut self, session: &mut Session, client: PartyId, asked: usize) -> Result<(), PsiError> {
        if asked as u64 > self.left() {
            return Err(WrongInput::Budget { asked, left: self.left() }.into());
        }
        self.answered += asked as u64;
        session.enter(NAME);
        session.next_round();
        // It grows with what comes, and not by what the client says that it will send.
        let mut answers = Vec::new();
        // k/4 times each question 2 (H(y) + r G).
        let quarter = self.key.half().half();
        receive_raised(session, client, &quarter, asked, |points| answers.extend_from_slice(points))?;
        session.next_round();
        send_points(session, client, &answers)?;
        session.leave();
        Ok(())
    }
}

/// A client's copy of a published set.
pub struct PublishedSet {
    header: Header,
    /// The base point times half of the key.
    half_key: FixedPoint,
    tags: SortedTags,
}

impl std::fmt::Debug for PublishedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublishedSet({} items)", self.header.items)
    }
}

impl PublishedSet {
    /// Reads a published set.
    ///
    /// # Errors
    /// [`PsiError::Input`] if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PsiError> {
        let set = Header::read(bytes, PUBLISHED).and_then(|header| {
            let (half_key, tags) = bytes[HEADER_BYTES..].split_first_chunk()?;
            let tags = SortedTags::read(tags, header.items as usize, header.bits())?;
            Some(Self { header, half_key: FixedPoint::new(half_key)?, tags })
        });
        Ok(set.ok_or(WrongInput::NoPublishedSet)?)
    }

    /// How many items the prepared set has.
    pub fn items(&self) -> usize {
        self.header.items as usize
    }

    /// Asks which of the items the prepared set has: pairs of the client's index and the server's position.
    ///
    /// # Errors
    /// The connection's failure, or a server that deviates.
    pub fn query(&self, session: &mut Session, server: PartyId, items: &[Item]) -> Result<Vec<Match>, PsiError> {
        let blinds = Blinds::random(items.len())?;
        let hash = TagHash::new(&self.header.context, self.header.bits());
        session.enter(NAME);
        session.next_round();
        // The questions 2 (H(y) + r G).
        send_blinded(session, server, &blinds, &HashToGroup::new(&self.header.context), items)?;
        session.next_round();
        // k H(y) = 2 (answer - r (k/2) G).
        let points = receive_unblinded(session, server, &blinds, &self.half_key, items.len())?;
        session.leave();
        let found = items.iter().zip(&points).zip(0..).filter_map(|((&item, point), mine)| {
            let theirs = self.tags.place(hash.of_item(item, point))?;
            Some(Match { mine, theirs })
        });
        Ok(found.collect())
    }
}

/// Sends a published set to a client; one round.
///
/// # Errors
/// The connection's failure.
pub fn send_set(session: &mut Session, client: PartyId, published: &[u8]) -> Result<(), PsiError> {
    session.enter(NAME);
    session.next_round();
    for piece in published.chunks(1 << 20) {
        session.send(client, piece.to_vec())?;
    }
    session.leave();
    Ok(())
}

/// Receives a published set of at most `limit` items, prepared for `budget`; one round. The bytes may be kept as a
/// file.
///
/// # Errors
/// The connection's failure; [`PsiError::Cheating`] if what comes is no published set, or another one.
pub fn receive_set(session: &mut Session, server: PartyId, limit: u32, budget: u64) -> Result<Vec<u8>, PsiError> {
    session.enter(NAME);
    session.next_round();
    let mut bytes = vec![0; HEADER_BYTES];
    session.recv(server, &mut bytes)?;
    let agreed = |header: &Header| header.items <= limit && header.budget == budget;
    let Some(header) = Header::read(&bytes, PUBLISHED).filter(agreed) else {
        return Err(PsiError::cheating(session, server, "its prepared set is none, or not the one that it offers"));
    };
    bytes.resize(published_bytes(header.items as usize, header.budget), 0);
    session.recv(server, &mut bytes[HEADER_BYTES..])?;
    session.leave();
    match PublishedSet::from_bytes(&bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(PsiError::cheating(session, server, "its prepared set is not a sorted set of tags")),
    }
}
