//! What this party knows of its group before anybody is connected.

use super::hello::{Said, random};
use super::tls::Tls;
use super::{Endpoint, Hello, Identity};
use crate::attendance::Roll;
use crate::error::NetError;
use crate::hub::apart;
use crate::keys;
use crate::options::{Options, Security};
use rustls::pki_types::CertificateDer;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Which sessions a group has. Its first parties are nodes, which have some among each other. If there are others, they
/// are clients, and all nodes have one with them.
#[derive(Clone, Copy)]
pub(super) struct Sessions {
    pub nodes: usize,
    pub among_nodes: usize,
}

/// What this party knows of the group before it is connected.
pub(super) struct Group {
    pub names: Vec<String>,
    pub addresses: Vec<String>,
    pub me: usize,
    /// The first parties are nodes, and all others clients of them.
    pub nodes: usize,
    pub tls: Option<Tls>,
    /// The agreed certificates; empty without TLS.
    pub certificates: Vec<CertificateDer<'static>>,
    pub hello: Hello,
    /// The key by which this party signs its presence.
    pub identity: Identity,
    /// This party's part of what the nodes draw together.
    pub part: [u8; 32],
    /// What this party says on a connection of each session.
    pub said: Vec<Said>,
    pub deadline: Instant,
    pub connect_timeout: Duration,
    pub idle_timeout: Duration,
}

impl Group {
    /// Check that the group can work.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`].
    pub fn new(
        parties: &[Endpoint],
        me: usize,
        identity: &Identity,
        hello: Hello,
        options: &Options,
        Sessions { nodes, among_nodes }: Sessions,
    ) -> Result<Group, NetError> {
        let bad = |detail: String| NetError::BadConfiguration { detail };
        let own =
            parties.get(me).ok_or_else(|| bad(format!("there is no party number {me} among {}", parties.len())))?;
        if !(1..=parties.len()).contains(&nodes) {
            return Err(bad(format!("{nodes} of {} parties cannot be nodes", parties.len())));
        }
        let sessions = among_nodes + usize::from(nodes < parties.len());
        let names: Vec<_> = parties.iter().map(|party| party.name.clone()).collect();
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            return Err(bad(format!("two parties have the same name in {names:?}; name them apart")));
        }
        if options.idle_timeout < Duration::from_millis(10) {
            return Err(bad("the idle timeout is below 10 ms; no network gives signs of life that often".to_owned()));
        }
        let (tls, certificates) = match options.security {
            Security::PlaintextForBenchmarks => (None, Vec::new()),
            Security::MutualTls => {
                let certificates = parties
                    .iter()
                    .map(|party| keys::certificate(&party.certificate_pem))
                    .collect::<Result<Vec<_>, _>>()?;
                if certificates.iter().map(AsRef::<[u8]>::as_ref).collect::<HashSet<_>>().len() < certificates.len() {
                    return Err(bad("two parties have the same certificate; make a key pair for each".to_owned()));
                }
                if certificates[me] != *identity.certificate() {
                    let name = &own.name;
                    return Err(bad(format!("this party's own certificate is not the one agreed for {name:?}")));
                }
                (Some(Tls::new(identity, &certificates, me)?), certificates)
            }
        };
        let part = random()?;
        Ok(Group {
            addresses: parties.iter().map(|party| party.address.clone()).collect(),
            me,
            nodes,
            tls,
            certificates,
            said: (0..sessions)
                .map(|session| hello.clone().of_session(session, sessions).said_by(&own.name, &part))
                .collect::<Result<_, _>>()?,
            part,
            hello: hello.of_session(0, sessions),
            identity: identity.clone(),
            deadline: Instant::now() + options.connect_timeout,
            connect_timeout: options.connect_timeout,
            idle_timeout: options.idle_timeout,
            names,
        })
    }
    /// The run that is about to begin, where all sign their presence. drawn: by the nodes.
    pub fn roll(&self, drawn: [u8; 32]) -> Option<(Roll, [u8; 32])> {
        let head = self.hello.head.filter(|_| self.tls.is_some())?;
        Some((Roll::of(self.hello.roll(drawn), &self.names, &self.certificates), head))
    }

    /// How many connections the peers dial here.
    pub fn connections(&self) -> usize {
        (0..self.said.len()).map(|session| self.peers(session).count()).sum()
    }

    /// With whom this party has links in a session: nodes with each other; in the last one, if there are clients, nodes
    /// with clients.
    pub fn peers(&self, session: usize) -> impl Iterator<Item = usize> + use<> {
        let (me, nodes, parties) = (self.me, self.nodes, self.names.len());
        let of_clients = nodes < parties && session + 1 == self.said.len();
        let apart = if of_clients { apart(me, nodes, parties) } else { nodes..parties };
        (0..parties).filter(move |&peer| peer != me && (of_clients || me < nodes) && !apart.contains(&peer))
    }
}
