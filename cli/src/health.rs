//! `toolwire health`: a health check of the relay for containers, whose images contain no other program.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream, ToSocketAddrs as _},
    time::Duration,
};

pub(crate) const NAME: &str = "health";
/// Address of a relay without `--listen`.
const ADDRESS: &str = "127.0.0.1:8787";
const PATIENCE: Duration = Duration::from_secs(2);
const OK: &[u8] = b"HTTP/1.1 200 ";

pub(crate) fn check(arguments: &[String]) -> u8 {
    let address = arguments.first().map_or(ADDRESS, String::as_str);
    match request_health(address) {
        Ok(()) => 0,
        Err(why) => {
            let _ = writeln!(crate::streams::stderr(), "toolwire health: {address}: {why}");
            1
        }
    }
}

/// Tries every address, because `localhost` may have two, and the relay listens at one of them.
fn connect(addresses: impl Iterator<Item = SocketAddr>) -> Result<TcpStream, String> {
    let mut why = "expected an address".to_string();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(relay) => return Ok(relay),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

fn request_health(address: &str) -> Result<(), String> {
    let mut relay = connect(address.to_socket_addrs().map_err(|error| error.to_string())?)?;
    let request = format!("GET /toolwire/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut head = [0; OK.len()];
    relay
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| relay.set_write_timeout(Some(PATIENCE)))
        .and_then(|()| relay.write_all(request.as_bytes()))
        .and_then(|()| relay.read_exact(&mut head))
        .map_err(|error| error.to_string())?;
    if head == OK {
        return Ok(());
    }
    Err(format!("expected the status 200, found `{}`", String::from_utf8_lossy(&head).trim_end()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use std::net::TcpListener;

    use super::*;

    #[test]
    fn all_addresses_of_a_name_are_tried() {
        let address = |listener: &TcpListener| listener.local_addr().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let closed = address(&TcpListener::bind("127.0.0.1:0").expect("an address"));
        assert!(connect([closed, address(&listener)].into_iter()).is_ok());
        assert!(connect([closed].into_iter()).is_err());
        assert_eq!(connect([].into_iter()).err(), Some("expected an address".into()));
    }
}
