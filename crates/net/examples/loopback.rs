//! How fast two parties exchange bytes on this host: `cargo run --release -p tacit-net --example loopback [GiB]`.
//!
//! Prints one line per transport and measurement. Both parties and all their threads share this process, so CPU time
//! is that of sender and receiver together.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{NetError, Options, PartyId, Security, Session, keys, memory};

const NAMES: [&str; 2] = ["left", "right"];
const MIB: usize = 1 << 20;

/// Bytes under way before the sender waits for a sign of the receiver.
const WINDOW: usize = 8 * MIB;

fn main() -> Result<(), NetError> {
    let gib = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    measure("memory", gib, || Ok(memory::mesh(&NAMES, &Options::default())))?;
    measure("plain TCP", gib, || over_tcp(Security::PlaintextForBenchmarks))?;
    measure("TLS 1.3", gib, || over_tcp(Security::MutualTls))
}

fn measure(transport: &str, gib: usize, mesh: impl Fn() -> Result<Vec<Session>, NetError>) -> Result<(), NetError> {
    let chunks = gib << 10;
    for chunk in [MIB, 64 << 10] {
        let count = chunks * MIB / chunk;
        let (time, cpu) = timed(mesh()?, |session| one_way(session, count, chunk))?;
        report(transport, &format!("one direction, {} KiB", chunk >> 10), (count * chunk) as f64, time, cpu);
    }
    let (time, cpu) = timed(mesh()?, |session| both_ways(session, chunks / 2, MIB))?;
    report(transport, "both directions, 1024 KiB", (chunks * MIB) as f64, time, cpu);
    const TRIPS: usize = 20_000;
    let (time, _) = timed(mesh()?, |session| ping_pong(session, TRIPS))?;
    println!("{transport:10} round trip of 64 B          {:8.1} us", time.as_secs_f64() * 1e6 / TRIPS as f64);
    Ok(())
}

fn report(transport: &str, what: &str, bytes: f64, time: Duration, cpu: f64) {
    let rate = bytes / time.as_secs_f64() / 1e9;
    println!("{transport:10} {what:27} {rate:8.2} GB/s  {:5.2} CPU-s per GB", cpu / bytes * 1e9);
}

fn one_way(session: &mut Session, count: usize, chunk: usize) -> Result<(), NetError> {
    session.next_round();
    let mut out = vec![0; chunk];
    let window = WINDOW / chunk;
    for index in 0..count {
        if session.me().0 == 0 {
            let mut bytes = session.buffer(chunk);
            bytes.resize(chunk, 1);
            session.send(PartyId(1), bytes)?;
            // A protocol that waits for nothing would only measure how fast a queue grows.
            if index % window == window - 1 {
                session.recv(PartyId(1), &mut [0])?;
            }
        } else {
            session.recv(PartyId(0), &mut out)?;
            if index % window == window / 2 {
                session.send(PartyId(0), vec![1])?;
            }
        }
    }
    Ok(())
}

fn both_ways(session: &mut Session, count: usize, chunk: usize) -> Result<(), NetError> {
    let peer = PartyId(1 - session.me().0);
    let mut out = vec![0; chunk];
    for index in 0..count {
        if index % 8 == 0 {
            session.next_round();
        }
        let mut bytes = session.buffer(chunk);
        bytes.resize(chunk, 1);
        session.send(peer, bytes)?;
        session.recv(peer, &mut out)?;
    }
    Ok(())
}

fn ping_pong(session: &mut Session, trips: usize) -> Result<(), NetError> {
    let peer = PartyId(1 - session.me().0);
    let mut bytes = [0; 64];
    for _ in 0..trips {
        session.next_round();
        if session.me().0 == 0 {
            session.send(peer, bytes.to_vec())?;
            session.recv(peer, &mut bytes)?;
        } else {
            session.recv(peer, &mut bytes)?;
            session.send(peer, bytes.to_vec())?;
        }
    }
    Ok(())
}

/// Wall time of the slower party and CPU seconds of the process.
fn timed(
    sessions: Vec<Session>,
    body: impl Fn(&mut Session) -> Result<(), NetError> + Sync,
) -> Result<(Duration, f64), NetError> {
    let cpu = cpu_seconds();
    let start = Instant::now();
    thread::scope(|scope| {
        let run = |mut session: Session| {
            body(&mut session)?;
            let taken = start.elapsed();
            session.close()?;
            Ok(taken)
        };
        let parties: Vec<_> = sessions.into_iter().map(|session| scope.spawn(move || run(session))).collect();
        let times = parties.into_iter().map(|party| party.join().expect("no party panics"));
        let times = times.collect::<Result<Vec<_>, NetError>>()?;
        Ok((times.into_iter().max().unwrap_or_default(), cpu_seconds() - cpu))
    })
}

/// CPU time of this process from the kernel's accounting; zero where there is none.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<u64> = stat.split_whitespace().skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    fields.iter().sum::<u64>() as f64 / 100.0
}

fn over_tcp(security: Security) -> Result<Vec<Session>, NetError> {
    let options = Options { security, ..Options::default() };
    let listeners = NAMES.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let pairs = NAMES.map(|name| keys::generate(name).expect("randomness"));
    let parties = [0, 1].map(|party| Endpoint {
        name: NAMES[party].to_owned(),
        address: listeners[party].local_addr().expect("a bound socket").to_string(),
        certificate_pem: pairs[party].1.clone(),
    });
    let join = &|me: usize, listener| {
        let identity = Identity::from_pem(&pairs[me].0, &pairs[me].1)?;
        tcp::connect_with_listener(listener, &parties, me, identity, Hello::new([0; 32], "none"), &options)
    };
    // The parties meet, so they must all be under way before one is waited for.
    thread::scope(|scope| {
        let join = |(me, listener)| scope.spawn(move || join(me, listener));
        let joining: Vec<_> = listeners.into_iter().enumerate().map(join).collect();
        joining.into_iter().map(|party| party.join().expect("no party panics")).collect()
    })
}
