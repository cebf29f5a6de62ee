//! The door: which requests are looked at at all.
//!
//! A web page that its owner opens can make a browser send requests to an address of the loopback, and, with a name of
//! its own that it makes lead there (DNS rebinding), even read the answers. It cannot choose `Host` and `Origin`.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

use crate::options::HttpOptions;
use crate::refused::Refused;
use crate::tokens::{Rights, Tokens};

/// How a request came about, as the browser sees it.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub(crate) struct Door {
    tokens: Option<Tokens>,
    /// Everybody may use everything.
    open: Arc<Rights>,
    /// `None`: any.
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
}

impl Door {
    pub(crate) fn new(at: SocketAddr, options: &HttpOptions) -> Self {
        let loopback = at.ip().is_loopback();
        let port = at.port();
        let mut hosts = options.hosts.clone();
        if loopback || !hosts.is_empty() {
            hosts.extend(LOOPBACK.map(str::to_owned));
            hosts.push(at.to_string());
        }
        let mut origins = options.origins.clone();
        // A browser leaves the usual port out.
        let port = if port == 80 { String::new() } else { format!(":{port}") };
        origins.extend(LOOPBACK.map(|host| format!("http://{host}{port}")));
        Self {
            tokens: options.tokens.clone(),
            open: Arc::default(),
            hosts: Some(hosts).filter(|hosts| !hosts.is_empty()),
            origins,
        }
    }

    /// Whether `Host` and `Origin` are ours.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let host = match headers.get(HOST) {
            Some(host) => host.to_str().ok().and_then(|host| host.parse().ok()),
            None => uri.authority().cloned(),
        };
        let Some(host) = host.filter(|_| headers.get_all(HOST).iter().count() <= 1) else {
            return Err(Refused::malformed("BAD_HEADER", "the header Host is missing, or not one"));
        };
        if self.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|known| is_host(known, &host))) {
            return Err(Refused::forbidden(
                "HOST_FORBIDDEN",
                format!("this server is not known as \"{host}\""),
            ));
        }
        for origin in headers.get_all(ORIGIN) {
            let known = |known: &String| known.as_bytes().eq_ignore_ascii_case(origin.as_bytes());
            if !self.origins.iter().any(known) {
                return Err(Refused::forbidden("ORIGIN_FORBIDDEN", "this Origin may not use this server"));
            }
        }
        // A page can have a browser fetch what it cannot read, such as an image, and no Origin is said then.
        let foreign = |site: &HeaderValue| site == "cross-site" || site == "same-site";
        if !headers.contains_key(ORIGIN) && headers.get_all(SEC_FETCH_SITE).iter().any(foreign) {
            return Err(Refused::forbidden(
                "ORIGIN_FORBIDDEN",
                "web pages of others may not use this server",
            ));
        }
        Ok(())
    }

    /// What may be used by whoever asks.
    pub(crate) fn rights(&self, headers: &HeaderMap) -> Result<Arc<Rights>, Refused> {
        let Some(tokens) = &self.tokens else { return Ok(self.open.clone()) };
        let Some(given) = headers.get(AUTHORIZATION) else {
            return Err(Refused::unauthorized("a token is needed: Authorization: Bearer <token>"));
        };
        let token = given.to_str().ok().and_then(|given| {
            let (scheme, token) = given.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        token
            .and_then(|token| tokens.rights(token))
            .ok_or_else(|| Refused::unauthorized("the token is not known here"))
    }
}

/// `known` is a name with any port, or with one.
fn is_host(known: &str, host: &Authority) -> bool {
    known.eq_ignore_ascii_case(host.host()) || known.eq_ignore_ascii_case(host.as_str())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn door(at: &str, options: &HttpOptions) -> Door {
        Door::new(at.parse().unwrap(), options)
    }

    fn code(door: &Door, headers: &[(&str, &str)]) -> Option<&'static str> {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect();
        door.check(&Uri::from_static("/mcp"), &headers).err().map(|refused| refused.code())
    }

    #[test]
    fn at_the_loopback_only_its_names_are_known() {
        let door = door("127.0.0.1:80", &HttpOptions::default());
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:80", "[::1]:80", "127.0.0.1:8080"] {
            assert_eq!(code(&door, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "127.0.0.2"] {
            assert_eq!(code(&door, &[("host", host)]), Some("HOST_FORBIDDEN"), "{host}");
        }
        assert_eq!(code(&door, &[]), Some("BAD_HEADER"));
        assert_eq!(code(&door, &[("host", "a b")]), Some("BAD_HEADER"));
    }

    #[test]
    fn a_web_page_may_come_from_the_server_itself_or_from_where_it_was_allowed() {
        let options =
            HttpOptions { origins: vec!["https://app.example".to_owned()], ..HttpOptions::default() };
        let door = door("127.0.0.1:8080", &options);
        for (origin, refused) in [
            ("http://localhost:8080", None),
            ("https://app.example", None),
            ("http://localhost:81", Some("ORIGIN_FORBIDDEN")),
            ("https://localhost:8080", Some("ORIGIN_FORBIDDEN")),
            ("https://app.example.evil.example", Some("ORIGIN_FORBIDDEN")),
            ("null", Some("ORIGIN_FORBIDDEN")),
        ] {
            assert_eq!(code(&door, &[("host", "localhost"), ("origin", origin)]), refused, "{origin}");
        }
    }

    #[test]
    fn what_a_page_of_somebody_else_fetches_without_an_origin_is_refused() {
        let options =
            HttpOptions { origins: vec!["https://app.example".to_owned()], ..HttpOptions::default() };
        let door = door("127.0.0.1:8080", &options);
        for (site, refused) in [
            ("cross-site", Some("ORIGIN_FORBIDDEN")),
            ("same-site", Some("ORIGIN_FORBIDDEN")),
            ("same-origin", None),
            ("none", None),
        ] {
            assert_eq!(code(&door, &[("host", "localhost"), ("sec-fetch-site", site)]), refused, "{site}");
            let allowed =
                [("host", "localhost"), ("sec-fetch-site", site), ("origin", "https://app.example")];
            assert_eq!(code(&door, &allowed), None, "{site}");
        }
    }

    #[test]
    fn elsewhere_any_host_will_do_unless_some_are_named() {
        let any = door("192.0.2.1:80", &HttpOptions::default());
        assert_eq!(code(&any, &[("host", "files.example")]), None);
        assert_eq!(
            code(&any, &[("host", "files.example"), ("origin", "http://files.example")]),
            Some("ORIGIN_FORBIDDEN")
        );
        let options = HttpOptions { hosts: vec!["files.example:80".to_owned()], ..HttpOptions::default() };
        let named = door("192.0.2.1:80", &options);
        assert_eq!(code(&named, &[("host", "files.example:80")]), None);
        assert_eq!(code(&named, &[("host", "192.0.2.1:80")]), None);
        assert_eq!(code(&named, &[("host", "files.example:81")]), Some("HOST_FORBIDDEN"));
    }
}
