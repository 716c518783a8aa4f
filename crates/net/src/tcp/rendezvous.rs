//! Bringing the group together: dial everybody, answer everybody, start a link as soon as its connection stands.

use super::group::{Group, Sessions};
use super::handshake::Met;
use super::incoming::Incoming;
use super::link::Link;
use super::outbox::{Sending, Writer};
use super::outgoing::Outgoing;
use super::reader::Reader;
use super::{Endpoint, Hello, Identity, accept, dial};
use crate::attendance::{Attendance, Present};
use crate::error::NetError;
use crate::frame::{Frame, Kind};
use crate::hub::{Hub, apart};
use crate::lock::lock;
use crate::meter::Meter;
use crate::options::{Options, Record};
use crate::pool::Pool;
use crate::route::{Links, Route};
use crate::secret::{Chain, drawn};
use crate::session::Session;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The step of errors before the session exists.
const STEP: &str = "connect";

/// How long a party that found a fault stays to answer, so that those it concerns find it too.
const LINGER: Duration = Duration::from_secs(2);

/// How often a failure that a link's threads noticed is looked for.
const GLANCE: Duration = Duration::from_millis(3);

/// How often a party that waits for others gives a sign of life: only writing shows that a peer has left.
const BEAT: Duration = Duration::from_millis(250);

enum Event {
    Dialled(Met<Outgoing>),
    Answered(Met<Incoming>),
    Unfit(NetError),
}

struct Rendezvous {
    group: Arc<Group>,
    idle_timeout: Duration,
    sessions: Vec<Joining>,
    /// What each party, this one included, has said as its part of what the nodes draw together.
    parts: Vec<Option<[u8; 32]>>,
    /// The signed presence of this party, until all peers have signed.
    present: Option<Present>,
    /// Why dialling each party failed last.
    tried: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

/// A session whose links are in the making.
struct Joining {
    /// By which the parties know it.
    number: usize,
    hub: Arc<Hub>,
    pool: Arc<Pool>,
    meter: Arc<Meter>,
    links: Vec<Option<Link>>,
}

impl Joining {
    fn new(number: usize, hub: Hub, group: &Group) -> Self {
        let links = (0..hub.names().len()).map(|party| group.peers(number).any(|peer| peer == party));
        let links = links.map(|linked| linked.then(Link::default)).collect();
        Self { number, hub: Arc::new(hub), pool: Arc::default(), meter: Arc::new(Meter::new()), links }
    }
}

/// This party's sessions. See [`super::connect_with_clients`].
pub(super) fn join(
    listener: TcpListener,
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
    sessions: Sessions,
) -> Result<Vec<Session>, NetError> {
    let group = Arc::new(Group::new(parties, me, &identity, hello, options, sessions)?);
    let (hub, nodes) = (|names: &[String]| Hub::new(names.to_vec(), options.shape, options.pulse()), group.nodes);
    let mut joining = Vec::new();
    if me < nodes {
        let first = hub(&group.names[..nodes]);
        let others: Vec<Hub> = (1..sessions.among_nodes).map(|_| first.beside()).collect();
        let numbered = std::iter::once(first).chain(others).enumerate();
        joining.extend(numbered.map(|(number, hub)| Joining::new(number, hub, &group)));
    }
    if nodes < parties.len() {
        let hub = hub(&group.names).apart_from(apart(me, nodes, parties.len()));
        joining.push(Joining::new(sessions.among_nodes, hub, &group));
    }
    let mut parts = vec![None; group.names.len()];
    parts[me] = Some(group.part);
    let mut rendezvous = Rendezvous {
        parts,
        present: None,
        tried: Arc::new(Mutex::new(vec!["it has not answered".to_owned(); group.names.len()])),
        sessions: joining,
        idle_timeout: options.idle_timeout,
        over: Arc::default(),
        group,
    };
    let (happened, events) = mpsc::channel();
    let answering = rendezvous.call(listener, &happened);
    let outcome = rendezvous.gather(&events, rendezvous.group.deadline);
    if outcome.is_err() {
        rendezvous.linger(&events);
    }
    rendezvous.over.store(true, Ordering::Relaxed);
    let _ = answering.join();
    rendezvous.conclude(outcome, options.record)
}

impl Rendezvous {
    /// Start dialling and answering. The thread that answers ends at once when `over`, and then the address is free
    /// again; those that dial may take some seconds.
    fn call(&self, listener: TcpListener, happened: &Sender<Event>) -> JoinHandle<()> {
        self.pairs().for_each(|(session, peer)| self.dial(peer, session.number, happened.clone()));
        let (group, over, happened) = (Arc::clone(&self.group), Arc::clone(&self.over), happened.clone());
        thread::spawn(move || {
            let report = happened.clone();
            let met = move |result| {
                let _ = report.send(match result {
                    Ok(met) => Event::Answered(met),
                    Err(error) => Event::Unfit(error),
                });
            };
            if let Err(error) = accept::accept(&listener, &group, || over.load(Ordering::Relaxed), met) {
                let detail = format!("this party's listener is unusable: {error}");
                let _ = happened.send(Event::Unfit(NetError::BadConfiguration { detail }));
            }
        })
    }

    /// Every session with each of its peers.
    fn pairs(&self) -> impl Iterator<Item = (&Joining, usize)> {
        self.sessions.iter().flat_map(|session| self.group.peers(session.number).map(move |peer| (session, peer)))
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        self.sessions.iter().flat_map(|session| &session.links).flatten()
    }

    fn dial(&self, peer: usize, session: usize, happened: Sender<Event>) {
        let (group, over, tried) = (Arc::clone(&self.group), Arc::clone(&self.over), Arc::clone(&self.tried));
        thread::spawn(move || {
            let note = |reason| lock(&tried)[peer] = reason;
            let event = match dial::dial(&group, (peer, session), || over.load(Ordering::Relaxed), note) {
                Some(Ok(met)) => Event::Dialled(met),
                Some(Err(error)) => Event::Unfit(error),
                None => return,
            };
            let _ = happened.send(event);
        });
    }

    /// Start links until all are complete, here and at every peer. Nobody may send a share to a group of which two
    /// members have yet to find that their plans differ. A party that has all its links waits as long again for those
    /// of its peers: what these lack they know, and say when they give up.
    ///
    /// With its last word each signs its presence. Nobody goes on before it has everybody's.
    fn gather(&mut self, events: &Receiver<Event>, mut deadline: Instant) -> Result<Option<Attendance>, NetError> {
        let (mut announced, mut beat) = (false, Instant::now());
        while !(announced && self.pairs().all(|(session, peer)| session.hub.is_ready(peer))) {
            if !announced && self.links().all(Link::complete) {
                self.present = self.sign()?;
                let said = self.present.as_ref().map(Present::said).unwrap_or_default();
                self.links().for_each(|link| link.post(Frame::new(Kind::Ready, 0, said.clone())));
                announced = true;
                deadline = deadline.max(Instant::now() + self.group.connect_timeout + LINGER);
                continue;
            }
            if let Some(failure) = self.sessions.iter().find_map(|session| session.hub.failure()) {
                return Err(unexplained(failure));
            }
            if Instant::now() >= deadline {
                return Err(self.missing());
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                let standing = self.links().filter(|link| link.outgoing.is_some());
                standing.for_each(|link| link.post(Frame::control(Kind::Heartbeat)));
            }
            match events.recv_timeout(GLANCE) {
                Ok(event) => self.handle(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.missing()),
            }
        }
        self.attendance()
    }

    /// The common random value of all nodes, complete when all links stand.
    fn drawn(&self) -> [u8; 32] {
        drawn(self.parts[..self.group.nodes].iter().flatten())
    }

    /// This party's presence, where all sign theirs.
    fn sign(&self) -> Result<Option<Present>, NetError> {
        let Some((roll, head)) = self.group.roll(self.drawn()) else { return Ok(None) };
        roll.sign(&self.group.names[self.group.me], head, self.group.identity.key()).map(Some)
    }

    /// All that take part, once each peer has shown its signature.
    fn attendance(&mut self) -> Result<Option<Attendance>, NetError> {
        let (Some((roll, _)), Some(own)) = (self.group.roll(self.drawn()), self.present.take()) else {
            return Ok(None);
        };
        let mut parties = vec![own];
        for (session, peer) in self.pairs() {
            let (name, certificate) = (&self.group.names[peer], &self.group.certificates[peer]);
            let present = roll.check(name, certificate, &session.hub.presence(peer))?;
            match parties.iter().find(|known| known.name == *name) {
                None => parties.push(present),
                Some(known) if known.head == present.head => {}
                Some(_) => return Err(two_ledgers(name)),
            }
        }
        let place = |present: &Present| self.group.names.iter().position(|name| *name == present.name);
        parties.sort_by_key(place);
        Ok(Some(Attendance { run: roll.run, plan_hash: roll.plan_hash, approved: roll.approved, parties }))
    }

    /// After a failure, go on for a moment so that the others meet this party and learn of it.
    fn linger(&mut self, events: &Receiver<Event>) {
        let deadline = self.group.deadline.min(Instant::now() + LINGER);
        while Instant::now() < deadline && !self.links().all(Link::complete) {
            if let Ok(event) = events.recv_timeout(GLANCE) {
                let _ = self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), NetError> {
        let started = match event {
            Event::Dialled(met) => self.note(&met).map(|()| self.start_writer(met))?,
            Event::Answered(met) => self.note(&met).map(|()| self.start_reader(met))?,
            Event::Unfit(error) => return Err(error),
        };
        started.map_err(|error| NetError::BadConfiguration { detail: format!("no thread or socket is left: {error}") })
    }

    /// Notes a peer's part of what the nodes draw together, which is one on all its connections. One that was started
    /// anew meanwhile has another.
    fn note<C>(&mut self, met: &Met<C>) -> Result<(), NetError> {
        if *self.parts[met.peer].get_or_insert(met.part) == met.part {
            return Ok(());
        }
        let detail = "it was started anew before all parties were connected; start again".to_owned();
        Err(NetError::Gone { peer: self.group.names[met.peer].clone(), step: String::new(), detail })
    }

    fn start_writer(&mut self, met: Met<Outgoing>) -> io::Result<()> {
        let Met { peer, session, connection, contribution, .. } = met;
        let Some((hub, pool, meter, link)) = linked(&mut self.sessions, session, peer) else { return Ok(()) };
        let socket = connection.stream().try_clone()?;
        link.outbox.open(Sending::new(connection, Arc::clone(pool), Arc::clone(meter)));
        let writer = Writer { outbox: Arc::clone(&link.outbox), peer, hub: Arc::clone(hub) };
        let name = format!("to {}", self.group.names[peer]);
        link.threads.push(thread::Builder::new().name(name).spawn(move || writer.run())?);
        link.outgoing = Some(socket);
        link.contributions[0] = contribution;
        Ok(())
    }

    fn start_reader(&mut self, met: Met<Incoming>) -> io::Result<()> {
        let Met { peer, session, connection, contribution, .. } = met;
        let Some((hub, pool, meter, link)) = linked(&mut self.sessions, session, peer) else { return Ok(()) };
        if link.incoming.is_some() {
            return Ok(());
        }
        let socket = connection.stream().try_clone()?;
        let reader = Reader {
            connection,
            peer,
            hub: Arc::clone(hub),
            pool: Arc::clone(pool),
            meter: Arc::clone(meter),
            idle_timeout: self.idle_timeout,
        };
        let name = format!("from {}", self.group.names[peer]);
        link.threads.push(thread::Builder::new().name(name).spawn(move || reader.run())?);
        link.incoming = Some(socket);
        link.contributions[1] = contribution;
        Ok(())
    }

    /// The first peer that is not there, and why.
    fn missing(&self) -> NetError {
        let incomplete = |session: &Joining| {
            session.links.iter().position(|link| link.as_ref().is_some_and(|link| !link.complete()))
        };
        let missing =
            self.sessions.iter().enumerate().find_map(|(number, session)| Some((number, incomplete(session)?)));
        let unready = || self.pairs().find(|(session, peer)| !session.hub.is_ready(*peer));
        let (session, peer) = missing.unwrap_or_else(|| (0, unready().map_or(self.group.me, |(_, peer)| peer)));
        let link = self.sessions[session].links.get(peer).and_then(Option::as_ref);
        let detail = if link.is_some_and(Link::complete) {
            "it is not connected with every other party".to_owned()
        } else if link.is_some_and(|link| link.outgoing.is_some()) {
            format!("it did not dial this party at {}", self.group.addresses[self.group.me])
        } else {
            lock(&self.tried)[peer].clone()
        };
        NetError::NotReachable {
            peer: self.group.names[peer].clone(),
            step: String::new(),
            address: self.group.addresses[peer].clone(),
            seconds: self.group.connect_timeout.as_secs(),
            detail,
        }
    }

    /// Hand the links to the sessions, or tell whoever is there that there will be none.
    fn conclude(self, outcome: Result<Option<Attendance>, NetError>, record: Record) -> Result<Vec<Session>, NetError> {
        let route = |link: Link| Box::new(link) as Box<dyn Route>;
        let agreed = self.group.hello.agreed();
        // A session without all its links ends at once.
        let drawn = self.drawn();
        let chain = |(peer, link): (usize, &Option<Link>)| {
            let [to, from] = link.as_ref()?.contributions.each_ref();
            Some(Chain::new(if self.group.me < peer { [to, from] } else { [from, to] }, &agreed))
        };
        let session = |Joining { hub, pool, meter, links, .. }: Joining| {
            let chains = links.iter().enumerate().map(chain).collect();
            let routes = links.into_iter().map(|link| link.map(route)).collect();
            Session::new(self.group.me, Links { hub, routes, pool, chains, drawn }, meter, record)
        };
        let mut sessions: Vec<Session> = self.sessions.into_iter().map(session).collect();
        if self.group.me < self.group.nodes
            && self.group.nodes < self.group.names.len()
            && let Some(clients) = sessions.pop()
        {
            sessions[0].attach(clients);
        }
        match outcome {
            Ok(attendance) => {
                sessions[0].keep_attendance(attendance);
                Ok(sessions)
            }
            Err(failure) => {
                let failure = failure.at(STEP);
                sessions.into_iter().for_each(|session| session.abort(&failure.to_string()));
                Err(failure)
            }
        }
    }
}

/// What a link is made of, if this party has that session and, in it, a link with the peer.
fn linked(
    sessions: &mut [Joining],
    number: usize,
    peer: usize,
) -> Option<(&Arc<Hub>, &Arc<Pool>, &Arc<Meter>, &mut Link)> {
    let Joining { hub, pool, meter, links, .. } = sessions.iter_mut().find(|session| session.number == number)?;
    Some((hub, pool, meter, links.get_mut(peer)?.as_mut()?))
}

/// A peer that has signed twice.
fn two_ledgers(name: &str) -> NetError {
    let detail = "it shows two different ledgers in one run".to_owned();
    NetError::Cheating { peer: name.to_owned(), step: String::new(), detail }
}

/// A peer that leaves while the group comes together could not say why on a connection of which it never accepted the
/// other half. The sentence names the likeliest cause, which no message of the socket does.
fn unexplained(failure: NetError) -> NetError {
    match failure {
        NetError::Gone { peer, step, .. } => {
            let detail = "it left before all parties were connected; its own message says why, most often that it has \
                          another certificate for a party than that party has";
            NetError::Gone { peer, step, detail: detail.to_owned() }
        }
        other => other,
    }
}
