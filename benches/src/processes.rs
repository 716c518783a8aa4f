//! Parties that are processes of this program, and what the coordinator says to them.

use crate::Result;
use crate::message::{Group, Listening, hear, say};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use tacit_net::tcp::{Endpoint, Hello, Identity, connect_with_listener};
use tacit_net::{Options, Security, Session, keys};

/// The coordinator's end of the conversation with one party.
pub struct Line {
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

impl Line {
    /// The conversation with a party that is a thread.
    pub fn to_thread(to: PipeWriter, from: PipeReader) -> Self {
        Self { to: Some(Box::new(to)), from: Box::new(BufReader::new(from)), process: None }
    }

    /// Says one thing.
    ///
    /// # Errors
    /// When the party has ended.
    pub fn say(&mut self, message: &impl Serialize) -> Result<()> {
        say(self.to.as_mut().ok_or("the party has ended")?, message)
    }

    /// Hears one thing.
    ///
    /// # Errors
    /// When the party fails; its own message is on the standard error output.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T> {
        hear(&mut self.from)?.ok_or_else(|| "a party failed".into())
    }

    /// Waits until the party has ended.
    ///
    /// # Errors
    /// When it did not end in order.
    pub fn end(mut self) -> Result<()> {
        self.to = None;
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a party ended with {status}").into()) }
    }
}

/// One run of two new processes: what each of them answers to a request.
///
/// # Errors
/// When a party fails.
pub fn one_run<T: DeserializeOwned>(
    names: &[&str; 2],
    argument: &str,
    tls: bool,
    request: &impl Serialize,
) -> Result<[T; 2]> {
    let mut lines = start(names, argument, tls)?;
    lines.iter_mut().try_for_each(|line| line.say(request))?;
    let answers = lines.iter_mut().map(Line::hear).collect::<Result<Vec<T>>>()?;
    lines.into_iter().try_for_each(Line::end)?;
    answers.try_into().map_err(|_| "two parties".into())
}

/// Starts a process for each name, with `argument` on its command line, and tells each who the others are.
///
/// # Errors
/// When a process cannot be started or ends at once.
pub fn start(names: &[&str], argument: &str, tls: bool) -> Result<Vec<Line>> {
    let mut lines = names.iter().map(|_| process(argument)).collect::<Result<Vec<_>>>()?;
    let (mut private_keys, mut parties) = (Vec::new(), Vec::new());
    for (name, line) in names.iter().zip(&mut lines) {
        let Listening { port } = line.hear()?;
        let (private_key, certificate) = keys::generate(name)?;
        private_keys.push(private_key);
        parties.push((format!("127.0.0.1:{port}"), certificate));
    }
    for (me, (line, private_key_pem)) in lines.iter_mut().zip(private_keys).enumerate() {
        line.say(&Group { me, parties: parties.clone(), private_key_pem: private_key_pem.to_string(), tls })?;
    }
    Ok(lines)
}

fn process(argument: &str) -> Result<Line> {
    let mut process =
        Command::new(std::env::current_exe()?).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let to = process.stdin.take().ok_or("a party without standard input")?;
    let from = process.stdout.take().ok_or("a party without standard output")?;
    Ok(Line { to: Some(Box::new(to)), from: Box::new(BufReader::new(from)), process: Some(process) })
}

/// A party's part of [`start`]: says where it listens and hears who the others are.
///
/// # Errors
/// When the coordinator is gone.
pub fn introduce(input: &mut impl BufRead, output: &mut impl Write) -> Result<(TcpListener, Group)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    say(output, &Listening { port: listener.local_addr()?.port() })?;
    let group = hear(input)?.ok_or("the coordinator is gone")?;
    Ok((listener, group))
}

/// Joins the group of parties with these names.
///
/// # Errors
/// When they cannot be reached.
pub fn join(names: &[&str], listener: TcpListener, group: &Group) -> Result<Session> {
    let endpoint = |(name, (address, certificate_pem)): (&&str, &(String, String))| Endpoint {
        name: (*name).to_owned(),
        address: address.clone(),
        certificate_pem: certificate_pem.clone(),
    };
    let parties: Vec<Endpoint> = names.iter().zip(&group.parties).map(endpoint).collect();
    let identity = Identity::from_pem(&group.private_key_pem, &parties[group.me].certificate_pem)?;
    let security = if group.tls { Security::MutualTls } else { Security::PlaintextForBenchmarks };
    let options = Options { security, ..Options::default() };
    Ok(connect_with_listener(listener, &parties, group.me, identity, Hello::new([0; 32], "bench"), &options)?)
}
