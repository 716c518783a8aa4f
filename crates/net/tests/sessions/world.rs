//! Groups of parties in this process, one thread each, over any transport.

use std::fmt::Debug;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{NetError, Options, Security, Session, keys, memory};
use zeroize::Zeroizing;

pub const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// Tries something that may fail where a busy machine delays signs of life for longer than an idle timeout: first with
/// the timeout `first`, then with longer ones. The last try has to succeed.
pub fn with_growing_patience<T, E: Debug>(first: Duration, attempt: impl Fn(Duration) -> Result<T, E>) -> T {
    let results = [1, 4, 16].into_iter().map(|factor| attempt(first * factor));
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(found) => return found,
            Err(failure) => failures.push(failure),
        }
    }
    panic!("not even with more patience: {failures:?}")
}

/// How the parties of a test are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Memory,
    Plain,
    Tls,
}

impl Transport {
    pub const ALL: [Self; 3] = [Self::Memory, Self::Plain, Self::Tls];

    /// The sessions of all parties.
    pub fn mesh(self, options: &Options) -> Vec<Session> {
        let security = match self {
            Self::Memory => return memory::mesh(&NAMES, options),
            Self::Plain => Security::PlaintextForBenchmarks,
            Self::Tls => Security::MutualTls,
        };
        let options = Options { security, ..options.clone() };
        let seats = seats();
        let sessions = thread::scope(|scope| {
            let parties: Vec<_> = seats.into_iter().map(|seat| scope.spawn(|| seat.join(&options))).collect();
            parties.into_iter().map(|party| party.join().expect("no party panics")).collect::<Vec<_>>()
        });
        sessions.into_iter().map(|session| session.expect("every party connects")).collect()
    }

    /// Run `body` at every party and return what each returned.
    pub fn run<T: Send>(self, options: &Options, body: impl Fn(Session) -> T + Sync) -> Vec<T> {
        let sessions = self.mesh(options);
        thread::scope(|scope| {
            let parties: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| body(session))).collect();
            parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
        })
    }

    /// As [`Transport::run`], where every party must succeed.
    pub fn succeed<T: Send>(
        self,
        options: &Options,
        body: impl Fn(&mut Session) -> Result<T, NetError> + Sync,
    ) -> Vec<T> {
        self.attempt(options, body).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// As [`Transport::succeed`]; an error of any party is returned.
    pub fn attempt<T: Send>(
        self,
        options: &Options,
        body: impl Fn(&mut Session) -> Result<T, NetError> + Sync,
    ) -> Result<Vec<T>, NetError> {
        let closing = |mut session: Session| {
            let result = body(&mut session)?;
            session.close()?;
            Ok::<_, NetError>(result)
        };
        self.run(options, closing).into_iter().collect()
    }
}

/// All that one party needs to join its group over TCP.
pub struct Seat {
    pub me: usize,
    pub listener: TcpListener,
    pub parties: Vec<Endpoint>,
    pub identity: Identity,
    pub hello: Hello,
}

impl Seat {
    pub fn join(self, options: &Options) -> Result<Session, NetError> {
        tcp::connect_with_listener(self.listener, &self.parties, self.me, self.identity, self.hello, options)
    }

    pub fn join_twice(self, options: &Options) -> Result<[Session; 2], NetError> {
        tcp::connect_two_with_listener(self.listener, &self.parties, self.me, self.identity, self.hello, options)
    }
}

/// Seats for all parties on free ports of this host, with fresh keys.
pub fn seats() -> Vec<Seat> {
    let listeners: Vec<_> = NAMES.iter().map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let pairs: Vec<_> = NAMES.iter().map(|name| keys::generate(name).expect("randomness")).collect();
    let parties: Vec<_> = NAMES
        .iter()
        .zip(&listeners)
        .zip(&pairs)
        .map(|((name, listener), (_, certificate))| Endpoint {
            name: (*name).to_owned(),
            address: listener.local_addr().expect("a bound socket").to_string(),
            certificate_pem: certificate.clone(),
        })
        .collect();
    let seat = |(me, (listener, (key, certificate))): (usize, (TcpListener, &(Zeroizing<String>, String)))| Seat {
        me,
        listener,
        parties: parties.clone(),
        identity: Identity::from_pem(key, certificate).expect("our own PEM"),
        hello: Hello::new([7; 32], "rep3"),
    };
    listeners.into_iter().zip(&pairs).enumerate().map(seat).collect()
}
