//! What a handshake needs of a connection.

use super::exporter::{Exported, Purpose};
use std::io::{self, Read};

/// A connection on which both ends speak, one at a time.
pub(super) trait Parley: Read {
    fn say(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// A key that both ends have and nobody else; `None` without TLS.
    fn export(&self, purpose: Purpose) -> io::Result<Option<Exported>>;
}
