//! Three parties: processes on this machine, or threads of this process.

use crate::Result;
use crate::message::{Request, Run};
use crate::operation::Operation;
use crate::party;
use crate::processes::{self, Line};
use std::io::{BufReader, PipeReader, PipeWriter, pipe};
use std::thread;
use tacit_net::{Options, memory};

/// The parties' names.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// How parties are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Processes, TCP under mutual TLS 1.3.
    Tls,
    /// Processes, TCP.
    Plain,
    /// Threads of this process.
    Memory,
}

impl Transport {
    /// The name in arguments and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Plain => "plain",
            Self::Memory => "memory",
        }
    }

    /// The transport of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Tls, Self::Plain, Self::Memory].into_iter().find(|transport| transport.name() == name)
    }
}

/// Three connected parties that wait for work.
pub struct Trio {
    parties: Vec<Line>,
}

impl Trio {
    /// Starts and connects three parties.
    ///
    /// # Errors
    /// When a process cannot be started or ends at once.
    pub fn start(transport: Transport) -> Result<Self> {
        let parties = match transport {
            Transport::Tls => processes::start(&NAMES, "party", true)?,
            Transport::Plain => processes::start(&NAMES, "party", false)?,
            Transport::Memory => threads()?,
        };
        Ok(Self { parties })
    }

    /// Runs an operation once; gives what each party measured.
    ///
    /// # Errors
    /// When a party fails; its own message is on the standard error output.
    pub fn run(&mut self, operation: Operation, rows: usize) -> Result<Vec<Run>> {
        for party in &mut self.parties {
            party.say(&Request::Run(operation, rows))?;
        }
        self.parties.iter_mut().map(Line::hear).collect()
    }

    /// Lets the parties close their sessions and end.
    ///
    /// # Errors
    /// When a party did not end in order.
    pub fn end(mut self) -> Result<()> {
        for party in &mut self.parties {
            party.say(&Request::End)?;
        }
        self.parties.into_iter().try_for_each(Line::end)
    }
}

fn threads() -> Result<Vec<Line>> {
    let sessions = memory::mesh(&NAMES, &Options::default());
    let start = |session| {
        let (requests, to): (PipeReader, PipeWriter) = pipe()?;
        let (from, mut answers): (PipeReader, PipeWriter) = pipe()?;
        thread::spawn(move || {
            if let Err(error) = party::serve(session, &mut BufReader::new(requests), &mut answers) {
                eprintln!("tacit-bench: a party failed: {error}");
            }
        });
        Ok(Line::to_thread(to, from))
    };
    sessions.into_iter().map(start).collect()
}
