//! Protocols by Diffie-Hellman whose functionality is another than the intersection.

mod pair;
mod private_id;
mod unbalanced;
