//! Keys that both ends of a TLS connection can make and nobody else: exported keying material (RFC 8446, section 7.5;
//! RFC 5705).
//!
//! rustls exports such keys from its buffered connections. From an unbuffered one it gives the secret that they are
//! made of, to whoever keeps a log of keys. The derivation here is that of the RFC, and both ends of every connection
//! check it. One of them is buffered, and a hello whose commitment does not fit the connection is refused.

use crate::lock::lock;
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use rustls::{KeyLog, Tls13CipherSuite};
use std::sync::Mutex;
use zeroize::Zeroizing;

/// What the keys of a connection are for; a label of RFC 5705 each.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// To bind a hello to its connection.
    Hello,
    /// The connection's part of what two parties have in common.
    Pair,
}

impl Purpose {
    /// The label, as both ends write it.
    pub fn label(self) -> &'static [u8] {
        match self {
            Self::Hello => b"EXPORTER-tacit-hello",
            Self::Pair => b"EXPORTER-tacit-pair-secret",
        }
    }
}

/// A key of a connection.
pub(super) type Exported = Zeroizing<[u8; 32]>;

/// Keeps the exporter secret of one connection, and no other secret.
#[derive(Default)]
pub(super) struct ExporterSecret(Mutex<Option<OkmBlock>>);

const LOGGED: &str = "EXPORTER_SECRET";

impl KeyLog for ExporterSecret {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        if label == LOGGED {
            *lock(&self.0) = Some(OkmBlock::new(secret));
        }
    }

    fn will_log(&self, label: &str) -> bool {
        label == LOGGED
    }
}

impl std::fmt::Debug for ExporterSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExporterSecret(secret)")
    }
}

impl ExporterSecret {
    /// A key for a purpose, without a context; `None` before the handshake has made the secret.
    pub fn export(&self, suite: &Tls13CipherSuite, purpose: Purpose) -> Option<Exported> {
        let secret = lock(&self.0);
        let hash = suite.common.hash_provider;
        let of_nothing = hash.hash(&[]);
        let mut derived = Zeroizing::new([0; OkmBlock::MAX_LEN]);
        let derived = &mut derived[..hash.output_len()];
        let expander = suite.hkdf_provider.expander_for_okm(secret.as_ref()?);
        expand_label(expander.as_ref(), purpose.label(), of_nothing.as_ref(), derived)?;
        let expander = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(derived));
        let mut out = Exported::default();
        expand_label(expander.as_ref(), b"exporter", of_nothing.as_ref(), &mut out[..])?;
        Some(out)
    }
}

/// HKDF-Expand-Label (RFC 8446, section 7.1).
fn expand_label(expander: &dyn HkdfExpander, label: &[u8], context: &[u8], out: &mut [u8]) -> Option<()> {
    const PREFIX: &[u8] = b"tls13 ";
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let labels = [u8::try_from(PREFIX.len() + label.len()).ok()?];
    let contexts = [u8::try_from(context.len()).ok()?];
    expander.expand_slice(&[&length, &labels, PREFIX, label, &contexts, context], out).ok()
}
