/// What a corrupted party may do. It is chosen in code, part of the plan that all parties hash, and never a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Adversary {
    /// It follows the protocol and looks at everything it sees.
    SemiHonest,
    /// It may send anything. An honest party aborts, except with probability 2^-40, unless the other one has guessed
    /// bits of a secret right: the guess of one bit more halves its chance.
    Malicious,
}
