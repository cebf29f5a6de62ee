//! Who is asking: the one place that decides it.
//!
//! In this order: the session named in the URL or in the header `Dsh-Session`; the one that the `Mcp-Session-Id` of an older
//! client stands for; a new one, where an older client says hello; nobody. Nobody may read and create, but what is read
//! is not remembered.

use std::sync::Arc;

use http::HeaderMap;

use crate::refused::Refused;
use crate::seat::Seat;
use crate::seats::Seats;
use crate::tokens::Rights;

pub(crate) const SESSION: &str = "dsh-session";
pub(crate) const MCP_SESSION: &str = "mcp-session-id";
const MCP_VERSION: &str = "mcp-protocol-version";

/// From this version on the protocol has no sessions of its own.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// The most characters of a session's name.
const LONGEST_NAME: usize = 128;

/// What a request says of who is asking.
pub(crate) struct Claim<'a> {
    /// What comes after `/mcp/`.
    pub(crate) url: Option<&'a str>,
    pub(crate) headers: &'a HeaderMap,
    /// The request is an older client's `initialize`.
    pub(crate) hello: bool,
    /// The request may begin the session that it names. Only a POST may: a web page can make a browser send any GET, and
    /// nothing in that tells where it comes from.
    pub(crate) begins: bool,
}

pub(crate) struct Asker {
    pub(crate) seat: Arc<Seat>,
    /// The session begins with this request, and nobody else knows its name.
    pub(crate) fresh: bool,
    /// The `Mcp-Session-Id` that was believed.
    pub(crate) client: Option<String>,
}

pub(crate) fn who(claim: &Claim<'_>, rights: &Rights, seats: &Seats) -> Result<Asker, Refused> {
    let client = older_client(claim.headers)?;
    if claim.hello {
        seats.room_for_link()?;
    }
    let name = name(claim)?;
    if let Some(name) = name {
        may_use(rights, name)?;
    }
    if let Some(client) = client {
        let seat = seats.linked(client).ok_or_else(ended)?;
        if let Some(name) = name.filter(|name| seat.id() != Some(name)) {
            return Err(Refused::malformed(
                "SESSION_CONFLICT",
                format!("the Mcp-Session-Id belongs to another session than \"{name}\""),
            ));
        }
        may_use(rights, seat.id().unwrap_or_default())?;
        may_work_in(rights, seat.workspace.as_deref())?;
        return Ok(Asker { seat, fresh: false, client: Some(client.to_owned()) });
    }
    if let Some(name) = name {
        let seat = seats
            .named(name, || if claim.begins { may_work_in(rights, None) } else { Err(unknown(name)) })?;
        may_work_in(rights, seat.workspace.as_deref())?;
        return Ok(Asker { seat, fresh: false, client: None });
    }
    if claim.hello
        && rights.workspace(None)
        && let Some(name) = rights.fresh_session()
    {
        return Ok(Asker { seat: seats.mint(&name, None)?, fresh: true, client: None });
    }
    if !rights.no_session() {
        return Err(Refused::forbidden(
            "SESSION_REQUIRED",
            "this token is for certain sessions only: name one, in the URL (/mcp/<session>) or in the header Dsh-Session",
        ));
    }
    Ok(Asker { seat: seats.nobody(), fresh: false, client: None })
}

/// The session that a request names.
fn name<'a>(claim: &Claim<'a>) -> Result<Option<&'a str>, Refused> {
    let header = one(claim.headers, SESSION)?;
    match (claim.url, header) {
        (Some(url), Some(header)) if url != header => Err(Refused::malformed(
            "SESSION_CONFLICT",
            "the URL and the header Dsh-Session name different sessions",
        )),
        (url, header) => url.or(header).map(valid).transpose(),
    }
}

/// The `Mcp-Session-Id` of a client whose protocol has one.
fn older_client(headers: &HeaderMap) -> Result<Option<&str>, Refused> {
    let newer = one(headers, MCP_VERSION)?.is_some_and(|version| version >= WITHOUT_SESSIONS);
    if newer { Ok(None) } else { one(headers, MCP_SESSION) }
}

/// The name of a session, if it can be one.
pub(crate) fn valid(name: &str) -> Result<&str, Refused> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(name);
    }
    Err(Refused::malformed(
        "BAD_SESSION_NAME",
        "a session's name is made of letters, digits, \".\", \"_\" and \"-\", 128 at most",
    ))
}

pub(crate) fn may_use(rights: &Rights, session: &str) -> Result<(), Refused> {
    if rights.session(session) {
        return Ok(());
    }
    Err(Refused::forbidden("SESSION_FORBIDDEN", format!("this token may not use the session \"{session}\"")))
}

pub(crate) fn may_work_in(rights: &Rights, workspace: Option<&str>) -> Result<(), Refused> {
    if rights.workspace(workspace) {
        return Ok(());
    }
    Err(Refused::forbidden("WORKSPACE_FORBIDDEN", "this token may not use this workspace"))
}

fn unknown(name: &str) -> Refused {
    Refused::missing(
        "NO_SUCH_SESSION",
        format!("there is no session \"{name}\", or it has expired: only a POST begins it"),
    )
}

fn ended() -> Refused {
    Refused::missing(
        "NO_SUCH_SESSION",
        "the Mcp-Session-Id is not known here, or has expired: initialize again",
    )
}

/// A header that is given once at most.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refused> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str());
    match (value, values.next()) {
        (Some(Ok(value)), None) => Ok(Some(value)),
        (None, _) => Ok(None),
        _ => {
            Err(Refused::malformed("BAD_HEADER", format!("the header {name} is given twice, or is no text")))
        }
    }
}
