//! The nodes of an engine: processes on this machine, or threads of this process.

use crate::Result;
use crate::message::{Request, Run};
use crate::operation::Operation;
use crate::party;
use crate::processes::{self, Line};
use crate::roster::names;
use std::io::{BufReader, PipeReader, PipeWriter, pipe};
use std::thread;
use tacit_mpc::backends::{Four, Networked, Rep3, Two};
use tacit_net::{Options, Session, memory};

/// The engine that the nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Three nodes, replicated sharing.
    Rep3,
    /// Two nodes, oblivious transfer.
    Two,
    /// Four servers, two of which hold shares. It runs operations on columns alone.
    Four,
}

impl Engine {
    /// The name in arguments and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rep3 => Rep3::NAME,
            Self::Two => Two::NAME,
            Self::Four => Four::NAME,
        }
    }

    /// The engine of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Rep3, Self::Two, Self::Four].into_iter().find(|engine| engine.name() == name)
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Rep3 => names::<Rep3>(),
            Self::Two => names::<Two>(),
            Self::Four => names::<Four>(),
        }
    }

    /// The argument of its node processes.
    fn argument(self) -> &'static str {
        match self {
            Self::Rep3 => "party",
            Self::Two => "two-party",
            Self::Four => "four-party",
        }
    }

    fn serve(self, session: Session, input: &mut BufReader<PipeReader>, output: &mut PipeWriter) -> Result<()> {
        match self {
            Self::Rep3 => party::serve::<Rep3>(session, input, output),
            Self::Two => party::serve::<Two>(session, input, output),
            Self::Four => party::serve::<Four>(session, input, output),
        }
    }
}

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

/// Connected nodes that wait for work.
pub struct Nodes {
    parties: Vec<Line>,
}

impl Nodes {
    /// Starts and connects the nodes of an engine.
    ///
    /// # Errors
    /// When a process cannot be started or ends at once.
    pub fn start(engine: Engine, transport: Transport) -> Result<Self> {
        let parties = match transport {
            Transport::Tls => processes::start(engine.names(), engine.argument(), true)?,
            Transport::Plain => processes::start(engine.names(), engine.argument(), false)?,
            Transport::Memory => threads(engine)?,
        };
        Ok(Self { parties })
    }

    /// Has the parties declare a link of `bandwidth` bytes a second.
    ///
    /// # Errors
    /// When a party is gone.
    pub fn declare(&mut self, bandwidth: f64) -> Result<()> {
        self.parties.iter_mut().try_for_each(|party| party.say(&Request::Declare(bandwidth)))
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

fn threads(engine: Engine) -> Result<Vec<Line>> {
    let sessions = memory::mesh(engine.names(), &Options::default());
    let start = |session| {
        let (requests, to): (PipeReader, PipeWriter) = pipe()?;
        let (from, mut answers): (PipeReader, PipeWriter) = pipe()?;
        thread::spawn(move || {
            if let Err(error) = engine.serve(session, &mut BufReader::new(requests), &mut answers) {
                eprintln!("tacit-bench: a party failed: {error}");
            }
        });
        Ok(Line::to_thread(to, from))
    };
    sessions.into_iter().map(start).collect()
}
