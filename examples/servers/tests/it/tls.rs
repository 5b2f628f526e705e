//! TLS by rustls: its own clients on fibers, and what they can do to the server.

use crate::{in_pools, reset, served, served_in_no_time, watchdog};
use anabranch::{
    Cx, Pool,
    net::{TcpListener, TcpStream},
    sync::Event,
};
use anabranch_servers::{
    serve::{Ends, Limits, serve},
    tls::{Identity, Service, connection},
};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
    StreamOwned,
    client::danger::HandshakeSignatureValid,
    crypto::{ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, Shutdown},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let identity = Identity::generate().unwrap();
    let client = identity.client_config().unwrap();
    (identity.server_config().unwrap(), client)
}

fn client(config: &Arc<ClientConfig>) -> ClientConnection {
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    ClientConnection::new(Arc::clone(config), name).unwrap()
}

/// Sends a word and returns what comes back.
fn echoed<S: Read + Write>(tls: &mut StreamOwned<ClientConnection, S>) -> std::io::Result<[u8; 4]> {
    let mut word = [0; 4];
    tls.write_all(b"word")?;
    tls.flush()?;
    tls.read_exact(&mut word)?;
    Ok(word)
}

#[test]
fn both_services_answer_clients_on_fibers() {
    let (server, trust) = configs();
    in_pools(|pool| {
        let echo = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| connection(cx, stream, &server, Service::Echo, stop);
        let (ends, ()) = served(pool, Limits::default(), echo, |cx, address, _| {
            cx.map_concurrent(10, 0..20, |cx, _| {
                let stream = TcpStream::connect(cx, address)?;
                let mut tls = StreamOwned::new(client(&trust), stream.with(cx));
                for _ in 0..5 {
                    assert_eq!(&echoed(&mut tls)?, b"word");
                }
                tls.conn.send_close_notify();
                tls.flush()?;
                // The server says good-bye, too.
                assert_eq!(tls.read(&mut [0])?, 0);
                Ok::<_, std::io::Error>(())
            })
            .unwrap();
        });
        assert_eq!(ends, Ends { regular: 20, ..Ends::default() });
        let hello =
            |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| connection(cx, stream, &server, Service::Hello, stop);
        served(pool, Limits::default(), hello, |cx, address, _| {
            let answer = |text: &str, is_half_closed: bool| {
                let stream = TcpStream::connect(cx, address).unwrap();
                let mut tls = StreamOwned::new(client(&trust), stream.with(cx));
                tls.write_all(text.as_bytes()).unwrap();
                tls.flush().unwrap();
                if is_half_closed {
                    tls.conn.send_close_notify();
                    tls.flush().unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                }
                let mut answer = String::new();
                tls.read_to_string(&mut answer).unwrap();
                answer
            };
            let two = answer("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.0\r\n\r\n", false);
            assert!(two.contains("you asked for /1\n") && two.ends_with("you asked for /2\n"), "{two:?}");
            let half_closed = answer("GET /half HTTP/1.1\r\nHost: x\r\n\r\n", true);
            assert!(half_closed.ends_with("you asked for /half\n"), "{half_closed:?}");
            assert!(answer("nonsense\r\n\r\n", false).starts_with("HTTP/1.1 400 "));
            assert!(answer("POST / HTTP/1.1\r\nHost: x\r\n\r\n", false).starts_with("HTTP/1.1 405 "));
            assert!(answer(&"x".repeat(17 << 10), false).starts_with("HTTP/1.1 431 "));
        });
    });
}

/// Checks clients, and panics once.
#[derive(Debug)]
struct Verifier(AtomicBool);

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        assert!(self.0.swap(true, Ordering::Relaxed), "a verifier that panics");
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

#[test]
fn panic_in_certificate_verifier_ends_one_connection() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let key = || PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let chain = || vec![made.cert.der().clone()];
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let trust = ClientConfig::builder().with_root_certificates(roots).with_client_auth_cert(chain(), key()).unwrap();
    let trust = Arc::new(trust);
    in_pools(|pool| {
        let verifier = Arc::new(Verifier(AtomicBool::new(false)));
        let builder = ServerConfig::builder().with_client_cert_verifier(Arc::clone(&verifier) as _);
        let server = Arc::new(builder.with_single_cert(chain(), key()).unwrap());
        let echo = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| connection(cx, stream, &server, Service::Echo, stop);
        let (ends, ()) = served(pool, Limits::default(), echo, |cx, address, _| {
            let talk = || {
                let stream = TcpStream::connect(cx, address).unwrap();
                echoed(&mut StreamOwned::new(client(&trust), stream.with(cx)))
            };
            let closed = talk().unwrap_err();
            assert!(matches!(closed.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{closed:?}");
            for _ in 0..3 {
                assert_eq!(&talk().unwrap(), b"word");
            }
        });
        assert_eq!((ends.panicked, ends.failed, ends.cancelled), (1, 0, 0), "{ends}");
        assert_eq!(Arc::strong_count(&server), 1, "a connection is leaked");
        drop(server);
        assert_eq!(Arc::strong_count(&verifier), 1, "a configuration is leaked");
    });
}

#[test]
fn wrong_silent_and_reset_clients_do_not_concern_others() {
    let (server, trust) = configs();
    in_pools(|pool| {
        let echo = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| connection(cx, stream, &server, Service::Echo, stop);
        let limits = Limits { grace: std::time::Duration::ZERO, ..Limits::default() };
        let (ends, ()) = served(pool, limits, echo, |cx, address, _| {
            let connect = || TcpStream::connect(cx, address).unwrap();
            // It has said nothing, and does not hold up the end.
            let _silent = connect();
            let wrong = connect();
            wrong.write_all(cx, b"GET / HTTP/1.1\r\n\r\n").unwrap();
            // An alert, and the end.
            let mut alert = Vec::new();
            let _ = wrong.read_to_end(cx, &mut alert);
            assert_eq!(alert.first(), Some(&21), "{alert:?}");
            drop(connect());
            let half = connect();
            half.write_all(cx, &[22, 3, 1, 2, 0, 1]).unwrap();
            reset(&half);
            drop(half);
            let stream = connect();
            let mut tls = StreamOwned::new(client(&trust), stream.with(cx));
            assert_eq!(&echoed(&mut tls).unwrap(), b"word");
            reset(&stream);
        });
        assert_eq!(ends.panicked, 0, "{ends}");
    });
    assert_eq!(Arc::strong_count(&server), 1, "a connection is leaked");
}

#[test]
fn client_that_delays_its_handshake_is_closed() {
    let (server, _) = configs();
    let (ends, read) = served_in_no_time(
        |cx, stream, stop| connection(cx, stream, &server, Service::Echo, stop),
        |mut stream| stream.read(&mut [0]).unwrap(),
    );
    assert_eq!((read, ends.failed), (0, 1));
}

#[test]
fn server_that_stops_says_good_bye() {
    let (server, trust) = configs();
    in_pools(|pool| {
        for service in [Service::Echo, Service::Hello] {
            let handler =
                |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| connection(cx, stream, &server, service, stop);
            let (ends, ()) = served(pool, Limits::default(), handler, |cx, address, stop| {
                let stream = TcpStream::connect(cx, address).unwrap();
                let mut tls = StreamOwned::new(client(&trust), stream.with(cx));
                while tls.conn.is_handshaking() {
                    tls.conn.complete_io(&mut tls.sock).unwrap();
                }
                stop.set();
                // Not the error of a stream that is cut off.
                assert_eq!(tls.read(&mut [0]).unwrap(), 0);
            });
            assert_eq!(ends, Ends { regular: 1, ..Ends::default() });
        }
    });
}

#[test]
fn dropped_pool_cuts_off_connections() {
    let (server, trust) = configs();
    watchdog(|| {
        let pool = Pool::builder().threads(2).build().unwrap();
        anabranch::run(|cx| {
            let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let config = Arc::clone(&server);
            pool.spawn(move |cx| {
                let stop = Event::new();
                serve(cx, listener, Limits::default(), &stop, |cx, stream, _| {
                    connection(cx, stream, &config, Service::Echo, &stop)
                })
            });
            let stream = TcpStream::connect(cx, address).unwrap();
            let mut tls = StreamOwned::new(client(&trust), stream.with(cx));
            assert_eq!(&echoed(&mut tls).unwrap(), b"word");
            drop(pool);
            assert_eq!(tls.read(&mut [0]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        });
    });
    assert_eq!(Arc::strong_count(&server), 1, "a connection is leaked");
}
