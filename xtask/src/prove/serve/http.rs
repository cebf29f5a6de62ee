//! [`Connection`]: as much of HTTP/1.1 as the proof needs, by hand, so that nothing puts right what is sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value as Json;

/// An answer that takes longer will not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that is kept for one request after another.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

/// An answer, read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// Such as 200.
    pub(crate) status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// Without its framing.
    pub(crate) body: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), address })
    }

    /// Sends a request and reads its answer.
    pub(crate) fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> anyhow::Result<Response> {
        self.send(&encoded(self.address, method, path, headers, body))?;
        self.receive()
    }

    /// Where it leads.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends these bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.stream.get_mut().write_all(bytes).context("cannot send")
    }

    /// Says that nothing more will be sent.
    pub(crate) fn end_sending(&self) -> anyhow::Result<()> {
        self.stream.get_ref().shutdown(std::net::Shutdown::Write).context("cannot end")
    }

    /// The next byte of an answer, whatever it is; `None` at the end. Nothing is read ahead.
    pub(crate) fn byte(&mut self) -> anyhow::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.stream.get_mut().read(&mut byte)? == 1).then_some(byte[0]))
    }

    /// Reads an answer to its end.
    pub(crate) fn receive(&mut self) -> anyhow::Result<Response> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("no answer of HTTP: {first:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').with_context(|| format!("no header: {line:?}"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response { status, headers, body: Vec::new() };
        response.body = self.body(&response)?;
        Ok(response)
    }

    fn body(&mut self, response: &Response) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        if response.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = self.line()?;
                let size = usize::from_str_radix(&size, 16).with_context(|| format!("no chunk: {size:?}"))?;
                body.extend(self.exactly(size)?);
                ensure!(self.line()?.is_empty(), "a chunk is not closed");
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        match response.header("content-length") {
            Some(length) => body = self.exactly(length.parse().context("the length is no number")?)?,
            None if matches!(response.status, 202 | 204) => {}
            None => {
                self.stream.read_to_end(&mut body)?;
            }
        }
        Ok(body)
    }

    fn exactly(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).context("the answer is cut off")?;
        Ok(bytes)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).context("no answer")?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => bail!("the answer is cut off"),
        }
    }
}

/// A request as it is sent.
pub(crate) fn encoded(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Vec<u8> {
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        request.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    [request.into_bytes(), body.to_vec()].concat()
}

impl Response {
    /// A header by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The messages in it: one of JSON, or those of a stream of events.
    pub(crate) fn messages(&self) -> anyhow::Result<Vec<Json>> {
        let is_stream = self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !is_stream {
            return Ok(vec![serde_json::from_slice(&self.body).context("the answer is no JSON")?]);
        }
        let text = std::str::from_utf8(&self.body).context("the stream is no text")?;
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        // An event without data only tells its id.
        data.filter(|data| !data.is_empty())
            .map(|data| serde_json::from_str(data).context("an event is no JSON"))
            .collect()
    }
}
