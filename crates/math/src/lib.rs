//! Rings, bit planes, transposes, permutations and their networks, pseudorandomness and hashing: the arithmetic under
//! every protocol.
//!
//! Nothing here branches on, indexes by, or prints a secret, except the gathers and scatters, whose index vectors are
//! public to the caller by contract.

#[cfg(not(target_endian = "little"))]
compile_error!("shares and pseudorandom words are little-endian in memory and on the wire");

mod aes128;
pub mod allocator;
pub mod append;
pub mod band;
pub mod code;
pub mod gf;
pub mod half_gates;
pub mod hash;
pub mod lanes;
pub mod matrix;
pub mod network;
pub mod ntt;
pub mod packed;
pub mod pages;
pub mod permutation;
pub mod plane;
pub mod prg;
pub mod randomness;
pub mod ring;
#[cfg(target_arch = "x86_64")]
pub mod ristretto;
pub mod running;
pub mod simd;
pub mod transpose;
pub mod universal;
mod wipe;
pub mod words;

pub use hash::{BlockCipher, CircularTreeHash, CorrelationRobustHash, KeyedHash, TweakableCircularHash};
pub use lanes::Workers;
pub use plane::Plane;
pub use prg::{Prg, Seed, Watch};
pub use ring::Ring;
pub use wipe::wipe;
