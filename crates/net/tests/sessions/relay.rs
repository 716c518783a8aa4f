//! The network, a crash and a power loss in one.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A TCP relay that can be cut or made deaf and dumb.
pub struct Relay {
    pub address: String,
    sockets: Arc<Mutex<Vec<TcpStream>>>,
    frozen: Arc<AtomicBool>,
}

impl Relay {
    /// Pass on between whoever dials `address` and `target`.
    pub fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let relay = Self {
            address: listener.local_addr().expect("bound").to_string(),
            sockets: Arc::default(),
            frozen: Arc::default(),
        };
        let (sockets, frozen) = (relay.sockets.clone(), relay.frozen.clone());
        thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let Ok(callee) = TcpStream::connect(&target) else { continue };
                for (from, to) in [(&caller, &callee), (&callee, &caller)] {
                    let (from, to) = (from.try_clone().expect("fd"), to.try_clone().expect("fd"));
                    sockets.lock().expect("no panic").push(from.try_clone().expect("fd"));
                    let frozen = frozen.clone();
                    thread::spawn(move || pass_on(from, to, &frozen));
                }
            }
        });
        relay
    }

    /// Close every connection, as a process that is killed.
    pub fn cut(&self) {
        for socket in self.sockets.lock().expect("no panic").iter() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Pass nothing on and close nothing, as a host without power.
    pub fn freeze(&self) {
        self.frozen.store(true, Relaxed);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, frozen: &AtomicBool) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while frozen.load(Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
