//! Three parties: processes on this machine, or threads of this process.

use crate::Result;
use crate::message::{Group, Listening, Request, Run, hear, say};
use crate::operation::Operation;
use crate::party;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::process::{Child, Command, Stdio};
use std::thread;
use tacit_net::{Options, keys, memory};

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

/// The coordinator's end of the conversation with one party.
struct Line {
    /// None: no more will be asked.
    to: Option<Box<dyn Write>>,
    from: Box<dyn BufRead>,
    process: Option<Child>,
}

impl Drop for Line {
    /// No party outlives its coordinator. A party that has ended already cannot be killed, which is as well.
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Trio {
    /// Starts and connects three parties.
    ///
    /// # Errors
    /// When a process cannot be started or ends at once.
    pub fn start(transport: Transport) -> Result<Self> {
        let parties = match transport {
            Transport::Tls => processes(true)?,
            Transport::Plain => processes(false)?,
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
            say(party.to.as_mut().ok_or("the parties have ended")?, &Request::Run(operation, rows))?;
        }
        self.parties.iter_mut().map(|party| hear(&mut party.from)?.ok_or_else(|| "a party failed".into())).collect()
    }

    /// Lets the parties close their sessions and end.
    ///
    /// # Errors
    /// When a party did not end in order.
    pub fn end(mut self) -> Result<()> {
        for party in &mut self.parties {
            say(party.to.as_mut().ok_or("the parties have ended")?, &Request::End)?;
            party.to = None;
        }
        for party in &mut self.parties {
            if let Some(mut process) = party.process.take() {
                let status = process.wait()?;
                if !status.success() {
                    return Err(format!("a party ended with {status}").into());
                }
            }
        }
        Ok(())
    }
}

fn processes(tls: bool) -> Result<Vec<Line>> {
    let mut lines = NAMES.iter().map(|_| process()).collect::<Result<Vec<_>>>()?;
    let (mut private_keys, mut parties) = (Vec::new(), Vec::new());
    for (name, line) in NAMES.iter().zip(&mut lines) {
        let Listening { port } = hear(&mut line.from)?.ok_or("a party did not start")?;
        let (private_key, certificate) = keys::generate(name)?;
        private_keys.push(private_key);
        parties.push((format!("127.0.0.1:{port}"), certificate));
    }
    for (me, (line, private_key_pem)) in lines.iter_mut().zip(private_keys).enumerate() {
        let group = Group { me, parties: parties.clone(), private_key_pem, tls };
        say(line.to.as_mut().ok_or("the party has ended")?, &group)?;
    }
    Ok(lines)
}

fn process() -> Result<Line> {
    let mut process =
        Command::new(std::env::current_exe()?).arg("party").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let to = process.stdin.take().ok_or("a party without standard input")?;
    let from = process.stdout.take().ok_or("a party without standard output")?;
    Ok(Line { to: Some(Box::new(to)), from: Box::new(BufReader::new(from)), process: Some(process) })
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
        Ok(Line { to: Some(Box::new(to)), from: Box::new(BufReader::new(from)), process: None })
    };
    sessions.into_iter().map(start).collect()
}
