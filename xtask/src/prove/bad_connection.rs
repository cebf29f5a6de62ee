//! A bad connection: a proxy on loopback before an HTTP server that passes most requests on, and disturbs some.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use crate::dice::Dice;

/// One request in so many is disturbed.
const DISTURBED: usize = 6;
const LONGEST_DELAY_MS: usize = 150;
/// No server that answers at all takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The proxy. It ends with this.
#[derive(Debug)]
pub(crate) struct BadConnection {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: String,
    dice: Mutex<Dice>,
    requests: AtomicUsize,
    disturbed: AtomicUsize,
    over: AtomicBool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passed,
    /// Passed on later, by so many milliseconds.
    Delayed(u64),
    /// Never sees the server; the connection ends, or an error is the answer.
    CutBefore,
    FailedBefore(u16),
    /// Is made; the answer never comes, or not all of it, or is an error.
    CutAfter,
    CutWithin,
    FailedAfter(u16),
}

impl BadConnection {
    /// Before the server at a URL such as `http://127.0.0.1:4566`.
    pub(crate) fn start(endpoint: &str, seed: u64) -> anyhow::Result<Self> {
        let server = endpoint.strip_prefix("http://").context("the proof wants a server without TLS")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let shared = Arc::new(Shared {
            server: server.trim_end_matches('/').to_owned(),
            dice: Mutex::new(Dice::new(seed)),
            requests: AtomicUsize::new(0),
            disturbed: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let address = listener.local_addr()?;
        let listening = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if listening.over.load(Ordering::SeqCst) {
                    break;
                }
                let listening = listening.clone();
                // Whoever breaks off has had enough.
                thread::spawn(move || drop(listening.serve(&client)));
            }
        });
        Ok(Self { address, shared })
    }

    /// Its own URL.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many requests came, and how many of them were disturbed.
    pub(crate) fn requests(&self) -> (usize, usize) {
        (self.shared.requests.load(Ordering::SeqCst), self.shared.disturbed.load(Ordering::SeqCst))
    }
}

impl Drop for BadConnection {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // It looks again when somebody comes.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    /// One request of a connection, which ends with it.
    fn serve(&self, client: &TcpStream) -> io::Result<()> {
        let request = request(client)?;
        let fate = self.fate();
        match fate {
            Fate::CutBefore => return client.shutdown(Shutdown::Both),
            Fate::FailedBefore(status) => return fail(client, status),
            Fate::Delayed(delay) => thread::sleep(Duration::from_millis(delay)),
            Fate::Passed | Fate::CutAfter | Fate::CutWithin | Fate::FailedAfter(_) => {}
        }
        let mut server = TcpStream::connect(&self.server)?;
        server.set_read_timeout(Some(PATIENCE))?;
        server.write_all(&request)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        let mut client = client;
        match fate {
            Fate::CutAfter => client.shutdown(Shutdown::Both),
            Fate::FailedAfter(status) => fail(client, status),
            Fate::CutWithin => {
                client.write_all(&answer[..answer.len() / 2])?;
                client.shutdown(Shutdown::Both)
            }
            _ => client.write_all(&answer),
        }
    }

    fn fate(&self) -> Fate {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        self.requests.fetch_add(1, Ordering::SeqCst);
        if !dice.one_in(DISTURBED) {
            return Fate::Passed;
        }
        self.disturbed.fetch_add(1, Ordering::SeqCst);
        let (status, delay) = (dice.pick(&[500, 503]), dice.below(LONGEST_DELAY_MS) as u64);
        dice.pick(&[
            Fate::Delayed(delay),
            Fate::CutBefore,
            Fate::FailedBefore(status),
            Fate::CutAfter,
            Fate::CutWithin,
            Fate::FailedAfter(status),
        ])
    }
}

/// A whole request, which asks the server to end the connection after it.
fn request(client: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(client);
    let (mut whole, mut length) = (Vec::new(), 0);
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default().to_ascii_lowercase();
        if name == b"content-length" {
            let value = String::from_utf8_lossy(&line[name.len() + 1..]).trim().parse();
            length = value.map_err(|_| io::ErrorKind::InvalidData)?;
        }
        if line == b"\r\n" {
            whole.extend_from_slice(b"Connection: close\r\n\r\n");
            break;
        }
        if name != b"connection" {
            whole.append(&mut line);
        }
    }
    let head = whole.len();
    whole.resize(head + length, 0);
    reader.read_exact(&mut whole[head..])?;
    Ok(whole)
}

fn fail(mut client: &TcpStream, status: u16) -> io::Result<()> {
    write!(client, "HTTP/1.1 {status} Disturbed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}
