//! Bringing the group together: dial everybody, answer everybody, start a link as soon as its connection stands.

use super::group::Group;
use super::incoming::Incoming;
use super::link::Link;
use super::outbox::Writer;
use super::outgoing::Outgoing;
use super::reader::Reader;
use super::{Endpoint, Hello, Identity, accept, dial};
use crate::error::NetError;
use crate::frame::{Frame, Kind};
use crate::hub::Hub;
use crate::lock::lock;
use crate::meter::Meter;
use crate::options::Options;
use crate::pool::Pool;
use crate::route::{Links, Route};
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
    Dialled(usize, Outgoing),
    Answered(usize, Incoming),
    Unfit(NetError),
}

struct Rendezvous {
    group: Arc<Group>,
    hub: Arc<Hub>,
    pool: Arc<Pool>,
    meter: Arc<Meter>,
    idle_timeout: Duration,
    links: Vec<Option<Link>>,
    /// Why dialling each party failed last.
    tried: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

/// See [`super::connect_with_listener`].
pub(super) fn join(
    listener: TcpListener,
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<Session, NetError> {
    let group = Arc::new(Group::new(parties, me, identity, hello, options)?);
    let names = group.names.clone();
    let mut rendezvous = Rendezvous {
        links: (0..names.len()).map(|party| (party != me).then(Link::default)).collect(),
        tried: Arc::new(Mutex::new(vec!["it has not answered".to_owned(); names.len()])),
        hub: Arc::new(Hub::new(names, options.shape, options.pulse())),
        pool: Arc::default(),
        meter: Arc::new(Meter::new()),
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
        self.peers().for_each(|peer| self.dial(peer, happened.clone()));
        let (group, over, happened) = (Arc::clone(&self.group), Arc::clone(&self.over), happened.clone());
        thread::spawn(move || {
            let report = happened.clone();
            let met = move |result| {
                let _ = report.send(match result {
                    Ok((peer, incoming)) => Event::Answered(peer, incoming),
                    Err(error) => Event::Unfit(error),
                });
            };
            if let Err(error) = accept::accept(&listener, &group, || over.load(Ordering::Relaxed), met) {
                let detail = format!("this party's listener is unusable: {error}");
                let _ = happened.send(Event::Unfit(NetError::BadConfiguration { detail }));
            }
        })
    }

    fn peers(&self) -> impl Iterator<Item = usize> {
        let me = self.group.me;
        (0..self.links.len()).filter(move |&party| party != me)
    }

    fn dial(&self, peer: usize, happened: Sender<Event>) {
        let (group, over, tried) = (Arc::clone(&self.group), Arc::clone(&self.over), Arc::clone(&self.tried));
        thread::spawn(move || {
            let note = |reason| lock(&tried)[peer] = reason;
            let event = match dial::dial(&group, peer, || over.load(Ordering::Relaxed), note) {
                Some(Ok(outgoing)) => Event::Dialled(peer, outgoing),
                Some(Err(error)) => Event::Unfit(error),
                None => return,
            };
            let _ = happened.send(event);
        });
    }

    /// Start links until all are complete, here and at every peer: nobody may send a share to a group of which two
    /// members have yet to find that their plans differ.
    fn gather(&mut self, events: &Receiver<Event>, deadline: Instant) -> Result<(), NetError> {
        let (mut announced, mut beat) = (false, Instant::now());
        while !(announced && self.peers().all(|peer| self.hub.is_ready(peer))) {
            if !announced && self.links.iter().flatten().all(Link::complete) {
                self.links.iter().flatten().for_each(|link| link.post(Frame::control(Kind::Ready)));
                announced = true;
                continue;
            }
            if let Some(failure) = self.hub.failure() {
                return Err(unexplained(failure));
            }
            if Instant::now() >= deadline {
                return Err(self.missing());
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                let standing = self.links.iter().flatten().filter(|link| link.outgoing.is_some());
                standing.for_each(|link| link.post(Frame::control(Kind::Heartbeat)));
            }
            match events.recv_timeout(GLANCE) {
                Ok(event) => self.handle(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.missing()),
            }
        }
        Ok(())
    }

    /// After a failure, go on for a moment so that the others meet this party and learn of it.
    fn linger(&mut self, events: &Receiver<Event>) {
        let deadline = self.group.deadline.min(Instant::now() + LINGER);
        while Instant::now() < deadline && !self.links.iter().flatten().all(Link::complete) {
            if let Ok(event) = events.recv_timeout(GLANCE) {
                let _ = self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), NetError> {
        let started = match event {
            Event::Dialled(peer, outgoing) => self.start_writer(peer, outgoing),
            Event::Answered(peer, incoming) => self.start_reader(peer, incoming),
            Event::Unfit(error) => return Err(error),
        };
        started.map_err(|error| NetError::BadConfiguration { detail: format!("no thread or socket is left: {error}") })
    }

    fn start_writer(&mut self, peer: usize, connection: Outgoing) -> io::Result<()> {
        let Some(link) = &mut self.links[peer] else { return Ok(()) };
        let socket = connection.socket().try_clone()?;
        let writer = Writer {
            outbox: Arc::clone(&link.outbox),
            connection,
            peer,
            hub: Arc::clone(&self.hub),
            pool: Arc::clone(&self.pool),
            meter: Arc::clone(&self.meter),
        };
        let name = format!("to {}", self.group.names[peer]);
        link.threads.push(thread::Builder::new().name(name).spawn(move || writer.run())?);
        link.outgoing = Some(socket);
        Ok(())
    }

    fn start_reader(&mut self, peer: usize, connection: Incoming) -> io::Result<()> {
        let Some(link) = &mut self.links[peer] else { return Ok(()) };
        if link.incoming.is_some() {
            return Ok(());
        }
        let socket = connection.socket().try_clone()?;
        let reader = Reader {
            connection,
            peer,
            hub: Arc::clone(&self.hub),
            pool: Arc::clone(&self.pool),
            meter: Arc::clone(&self.meter),
            idle_timeout: self.idle_timeout,
        };
        let name = format!("from {}", self.group.names[peer]);
        link.threads.push(thread::Builder::new().name(name).spawn(move || reader.run())?);
        link.incoming = Some(socket);
        Ok(())
    }

    /// The first peer that is not there, and why.
    fn missing(&self) -> NetError {
        let incomplete = |link: &Option<Link>| link.as_ref().is_some_and(|link| !link.complete());
        let unready = || self.peers().find(|&peer| !self.hub.is_ready(peer));
        let peer = self.links.iter().position(incomplete).or_else(unready).unwrap_or(self.group.me);
        let link = self.links[peer].as_ref();
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

    /// Hand the links to a session, or tell whoever is there that there will be none.
    fn conclude(self, outcome: Result<(), NetError>, record: bool) -> Result<Session, NetError> {
        let route = |link: Link| Box::new(link) as Box<dyn Route>;
        let routes = self.links.into_iter().map(|link| link.map(route)).collect();
        let links = Links { hub: self.hub, routes, pool: self.pool };
        let session = Session::new(self.group.me, links, self.meter, record);
        match outcome {
            Ok(()) => Ok(session),
            Err(failure) => {
                let failure = failure.at(STEP);
                session.abort(&failure.to_string());
                Err(failure)
            }
        }
    }
}

/// A peer that leaves while the group comes together could not say why on a connection of which it never accepted the other
/// half: the sentence names the likeliest cause, which no message of the socket does.
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
