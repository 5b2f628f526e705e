//! TLS by the synchronous interface of rustls, which waits on fibers without knowing of them.

use crate::{
    Failure,
    connection::{Connection, is_stopping},
    http::{self, Refused, Request, read_head},
};
use anabranch::{Cx, net::TcpStream, sync::Event};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

/// How long the handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// How long a client may be silent between two requests, and how long a request and its answer may take.
const IDLE: Duration = Duration::from_secs(30);

/// What the server does for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Answers requests of HTTP/1.1.
    Hello,
    /// Sends each byte back.
    Echo,
}

/// A certificate with those that lead to its issuer, and its key.
pub struct Identity {
    pub certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Makes a certificate for `localhost` that nobody has signed but its own key.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub fn generate() -> Result<Self, Failure> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names)?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
        Ok(Self { certificates: vec![made.cert.der().clone()], key })
    }

    /// Reads both from files in the PEM format.
    ///
    /// # Errors
    /// Returns an error with the name of the file that cannot be read.
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, Failure> {
        let cannot = |path: &Path, error| format!("cannot read {}: {error}", path.display());
        let file = CertificateDer::pem_file_iter(certificates).map_err(|error| cannot(certificates, error))?;
        let chain = file.collect::<Result<Vec<_>, _>>().map_err(|error| cannot(certificates, error))?;
        if chain.is_empty() {
            return Err(format!("there is no certificate in {}", certificates.display()).into());
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| cannot(key, error))?;
        Ok(Self { certificates: chain, key })
    }

    /// Returns the configuration of a server with this certificate.
    ///
    /// # Errors
    /// Returns an error if the key is not that of the certificate.
    pub fn server_config(self) -> Result<Arc<ServerConfig>, rustls::Error> {
        let builder = ServerConfig::builder().with_no_client_auth();
        Ok(Arc::new(builder.with_single_cert(self.certificates, self.key)?))
    }

    /// Returns the configuration of a client that trusts this certificate, and no other.
    ///
    /// # Errors
    /// Returns an error if the certificate cannot be parsed.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &self.certificates {
            roots.add(certificate.clone())?;
        }
        Ok(Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()))
    }
}

/// The stream of a connection under TLS.
type Tls<'a> = StreamOwned<ServerConnection, Connection<'a>>;

/// Serves a connection: the handshake, the service, and the farewell.
///
/// # Errors
/// Returns the errors of the stream and of TLS.
pub fn connection(
    cx: &Cx<'_>,
    stream: &TcpStream,
    config: &Arc<ServerConfig>,
    service: Service,
    stop: &Event,
) -> Result<(), Failure> {
    let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(config))?, Connection::new(cx, stream, stop));
    // Any client could keep a connection for ever if no time were set.
    tls.sock.set_time(HANDSHAKE);
    while tls.conn.is_handshaking() {
        // Zero bytes read and written: the client has left.
        if tls.conn.complete_io(&mut tls.sock)? == (0, 0) {
            return Ok(());
        }
    }
    let result = match service {
        Service::Hello => hello(&mut tls),
        Service::Echo => echo(&mut tls),
    };
    match result {
        Err(error) if is_stopping(&error) => {}
        // Some clients end without a farewell.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        // The client was silent for too long. It gets a farewell, too.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
        Err(error) => return Err(error.into()),
        Ok(()) => {}
    }
    // With this the client knows that nothing was cut off.
    tls.conn.send_close_notify();
    tls.sock.set_time(HANDSHAKE);
    tls.flush()?;
    tls.sock.linger();
    Ok(())
}

fn echo(tls: &mut Tls<'_>) -> io::Result<()> {
    let mut buffer = [0; 4 << 10];
    loop {
        tls.sock.set_time(IDLE);
        tls.sock.set_idle(true);
        let count = tls.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        tls.sock.set_idle(false);
        tls.write_all(&buffer[..count])?;
        tls.flush()?;
    }
}

fn hello(tls: &mut Tls<'_>) -> io::Result<()> {
    let mut reader = BufReader::new(tls);
    loop {
        reader.get_mut().sock.set_time(IDLE);
        reader.get_mut().sock.set_idle(true);
        reader.fill_buf()?;
        reader.get_mut().sock.set_idle(false);
        let request = match read_head(&mut reader) {
            Ok(Some(head)) => Request::parse(&head),
            Ok(None) => return Ok(()),
            Err(error) => Err(Refused::of(&error).ok_or(error)?),
        };
        let tls = reader.get_mut();
        let (answer, keeps_open) = answer(request, tls.sock.is_stopping());
        tls.write_all(&answer)?;
        tls.flush()?;
        if !keeps_open {
            return Ok(());
        }
    }
}

/// Returns the answer to a request, and whether the connection stays open.
pub fn answer(request: Result<Request, Refused>, is_stopping: bool) -> (Vec<u8>, bool) {
    let has_body = |request: &Request| request.framing() != Ok(http::Framing::Length(0));
    match request {
        Ok(request) if request.method != "GET" || has_body(&request) => {
            (http::text(405, "only GET, without a body\n", false), false)
        }
        Ok(request) => {
            let keeps_open = request.keeps_open() && !is_stopping;
            (http::text(200, &format!("hello over TLS, you asked for {}\n", request.target), keeps_open), keeps_open)
        }
        Err(refused) => (http::text(refused.status, &format!("{refused}\n"), false), false),
    }
}
