//! A network in which a test answers at every address of `https`: a proxy of the environment, with certificates that
//! the program trusts.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    io::{BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    pki_types::{CertificateDer, PrivateKeyDer},
    ServerConfig, ServerConnection, StreamOwned,
};

use crate::{
    command::Folder,
    relay::{read_message, Message},
};

/// A connection of a client, in plain text.
pub(crate) type Connection = BufReader<StreamOwned<ServerConnection, TcpStream>>;

pub(crate) struct Network {
    port: u16,
    certificates: Folder,
}

impl Network {
    /// `answer` handles a request to a host, and returns false to end the connection.
    pub(crate) fn start(answer: impl Fn(&str, &Message, &mut Connection) -> bool + Send + Sync + 'static) -> Network {
        let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let certificates = Folder::new();
        certificates.write("all.pem", &certificate.pem());
        let issuer = Arc::new(Issuer::new(parameters, key));
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let port = listener.local_addr().expect("an address").port();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, answer, issuer) = (stream.expect("a connection"), answer.clone(), issuer.clone());
                thread::spawn(move || {
                    let Some((host, mut connection)) = accept(stream, &issuer) else { return };
                    while let Some(request) = read_message(&mut connection) {
                        if !answer(&host, &request, &mut connection) {
                            // Without the end of TLS, as a connection that is reset.
                            let _ = connection.get_ref().sock.shutdown(std::net::Shutdown::Both);
                            return;
                        }
                    }
                });
            }
        });
        Network { port, certificates }
    }

    pub(crate) fn set(&self, command: &mut Command) {
        let path: PathBuf = self.certificates.0.join("all.pem");
        command.env("HTTPS_PROXY", format!("http://127.0.0.1:{}", self.port)).env("SSL_CERT_FILE", path);
    }
}

/// Returns the host, with its port if it has one of its own.
fn accept(stream: TcpStream, issuer: &Issuer<'static, KeyPair>) -> Option<(String, Connection)> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut reader = BufReader::with_capacity(1, stream);
    let request = read_message(&mut reader)?;
    let address = request.start.strip_prefix("CONNECT ")?.split(' ').next()?.to_string();
    let mut stream = reader.into_inner();
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    let (host, _) = address.rsplit_once(':')?;
    let key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new([host.to_string()]).expect("parameters").signed_by(&key, issuer);
    let chain = Vec::from([CertificateDer::from(own.expect("a certificate").der().to_vec())]);
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    let config = config.with_single_cert(chain, key).expect("a certificate");
    let connection = ServerConnection::new(Arc::new(config)).expect("a connection");
    Some((address.trim_end_matches(":443").into(), BufReader::new(StreamOwned::new(connection, stream))))
}

pub(crate) fn reply(connection: &mut impl Write, head: &str, body: &str) {
    let length = body.len();
    // The program may have closed the connection.
    let _ = write!(connection, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}");
    let _ = connection.flush();
}

pub(crate) fn wait_for_end(connection: &mut impl Read) {
    let _ = connection.read_to_end(&mut Vec::new());
}
