//! What the loopback interface carries: plain TCP, and TLS 1.3 as the library gives it without tacit's transport.

use super::Effort;
use crate::Result;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned, version};
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

/// Bytes of one write.
const WRITE: usize = 1 << 20;

/// The sending and the receiving end of a connection.
type Ends = (Box<dyn Write + Send>, Box<dyn Read + Send>);

fn connected() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let dialled = TcpStream::connect(listener.local_addr()?)?;
    let (accepted, _) = listener.accept()?;
    dialled.set_nodelay(true)?;
    accepted.set_nodelay(true)?;
    Ok((dialled, accepted))
}

/// A TCP connection.
pub fn plain() -> Result<Ends> {
    let (dialled, accepted) = connected()?;
    Ok((Box::new(dialled), Box::new(accepted)))
}

/// A maker of TLS connections.
pub fn tls() -> Result<impl Fn() -> Result<Ends>> {
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256],
        ..aws_lc_rs::default_provider()
    });
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    // The sender never reads: a ticket left unread would turn its end into a reset.
    server.send_tls13_tickets = 0;
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone())?;
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let (server, client) = (Arc::new(server), Arc::new(client));
    Ok(move || {
        let (dialled, accepted) = connected()?;
        let mut sender = ClientConnection::new(Arc::clone(&client), ServerName::try_from("localhost")?)?;
        sender.set_buffer_limit(None);
        let receiver = ServerConnection::new(Arc::clone(&server))?;
        let ends: Ends = (
            Box::new(StreamOwned::new(sender, dialled)),
            Box::new(StreamOwned::new(receiver, ReadAhead(BufReader::with_capacity(WRITE, accepted)))),
        );
        Ok(ends)
    })
}

/// Reads much at a time, where the library would ask for one record.
struct ReadAhead(BufReader<TcpStream>);

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ReadAhead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}

/// Bytes a second over `connections` connections at once, each with a thread at either end.
pub fn throughput(effort: Effort, connections: usize, connect: &impl Fn() -> Result<Ends>) -> Result<f64> {
    let writes = (effort.traffic / connections / WRITE).max(1);
    let ends = (0..connections).map(|_| connect()).collect::<Result<Vec<_>>>()?;
    let ready = Barrier::new(2 * connections + 1);
    let outcome: Result<Instant> = thread::scope(|scope| {
        let mut running = Vec::new();
        for (sender, receiver) in ends {
            running.push(scope.spawn(|| send(sender, writes, &ready)));
            running.push(scope.spawn(|| receive(receiver, writes, &ready)));
        }
        ready.wait();
        let start = Instant::now();
        for thread in running {
            thread.join().map_err(|_| "a thread of the loopback measurement panicked")??;
        }
        Ok(start)
    });
    Ok((connections * writes * WRITE) as f64 / outcome?.elapsed().as_secs_f64())
}

/// A first byte, so that the handshake is over; then the traffic. The barrier is passed even after a failure.
fn send(mut to: Box<dyn Write + Send>, writes: usize, ready: &Barrier) -> Result<()> {
    let buffer = vec![7; WRITE];
    let greeted = to.write_all(&buffer[..1]).and_then(|()| to.flush());
    ready.wait();
    greeted?;
    (0..writes).try_for_each(|_| to.write_all(&buffer))?;
    Ok(to.flush()?)
}

fn receive(mut from: Box<dyn Read + Send>, writes: usize, ready: &Barrier) -> Result<()> {
    let mut buffer = vec![0; WRITE];
    let greeted = from.read_exact(&mut buffer[..1]);
    ready.wait();
    greeted?;
    Ok((0..writes).try_for_each(|_| from.read_exact(&mut buffer))?)
}

/// Round trips a second of 64 bytes each way.
pub fn round_trips(effort: Effort) -> Result<f64> {
    const TRIPS: usize = 500;
    let (mut here, mut there) = connected()?;
    let echo = thread::spawn(move || {
        let mut bytes = [0; 64];
        while there.read_exact(&mut bytes).is_ok() && there.write_all(&bytes).is_ok() {}
    });
    let mut failure = None;
    let rate = effort.best_rate(|| {
        let mut bytes = [1; 64];
        let trips = (0..TRIPS).try_for_each(|_| here.write_all(&bytes).and_then(|()| here.read_exact(&mut bytes)));
        failure = failure.take().or(trips.err());
    });
    drop(here);
    echo.join().map_err(|_| "the echoing thread panicked")?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(TRIPS as f64 * rate),
    }
}
