//! What the coordinator and the parties tell each other: one JSON value a line.

use crate::operation::Operation;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{BufRead, Write};

use crate::Result;

/// The port on which a party listens: the first line of a party process.
#[derive(Serialize, Deserialize)]
pub struct Listening {
    /// On the loopback address.
    pub port: u16,
}

/// The coordinator's answer: who the parties are.
#[derive(Serialize, Deserialize)]
pub struct Group {
    /// This party's number.
    pub me: usize,
    /// Address and certificate of every party.
    pub parties: Vec<(String, String)>,
    /// This party's private key.
    pub private_key_pem: String,
    /// Whether the parties are joined by TLS; otherwise by plain TCP.
    pub tls: bool,
}

/// What the coordinator asks of a connected party.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum Request {
    /// Declare a link of this bandwidth, in bytes a second.
    Declare(f64),
    /// Run an operation once on fresh random inputs of this number of rows.
    Run(Operation, usize),
    /// Close the session and end.
    End,
}

/// What one party measured of one run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Run {
    /// Wall clock between barriers.
    pub seconds: f64,
    /// Processor time of the party's process, all threads.
    pub cpu_seconds: f64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Communication rounds.
    pub rounds: u64,
    /// Largest resident memory of the process since its start, in bytes.
    pub peak_memory: u64,
    /// Where the time went, in the order of first use.
    pub steps: Vec<Step>,
}

/// The cost of exactly one step path.
#[derive(Clone, Serialize, Deserialize)]
pub struct Step {
    /// Names joined by '/'.
    pub path: String,
    /// Wall clock.
    pub seconds: f64,
    /// The part of it spent waiting for peers.
    pub waiting: f64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Rounds.
    pub rounds: u64,
}

/// Say one thing.
pub fn say(output: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(message)?;
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// Hear one thing. None at the end of the input.
pub fn hear<T: DeserializeOwned>(input: &mut impl BufRead) -> Result<Option<T>> {
    let mut line = String::new();
    match input.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}
