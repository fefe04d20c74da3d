//! Connection strings as tables of cases.

use super::*;

fn read(text: &str) -> ConnectionString {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.into(), ip: None, port }
}

fn socket(directory: &str, port: u16) -> Address {
    Address::Socket { directory: directory.into(), port }
}

#[test]
fn both_forms_say_the_same() {
    for (text, addresses, user, password, database) in [
        ("postgresql://u:p@h/d", vec![tcp("h", 5432)], "u", Some("p"), "d"),
        ("postgres://u@h:1234", vec![tcp("h", 1234)], "u", None, "u"),
        ("host=h user=u password=p dbname=d", vec![tcp("h", 5432)], "u", Some("p"), "d"),
        ("host = h port = 7 user = u", vec![tcp("h", 7)], "u", None, "u"),
        (
            r"host=h user=u password='it\'s a \\ secret'",
            vec![tcp("h", 5432)],
            "u",
            Some(r"it's a \ secret"),
            "u",
        ),
        ("postgresql://u:p%40%3A%2F%3F%23%25@h/d", vec![tcp("h", 5432)], "u", Some("p@:/?#%"), "d"),
        ("postgresql://u:a+b@h/my%20db", vec![tcp("h", 5432)], "u", Some("a+b"), "my db"),
        ("postgresql://%2Frun%2Fpg/d?user=u", vec![socket("/run/pg", 5432)], "u", None, "d"),
        ("postgresql:///d?host=/run/pg&port=6000&user=u", vec![socket("/run/pg", 6000)], "u", None, "d"),
        ("host=/run/pg user=u dbname=d", vec![socket("/run/pg", 5432)], "u", None, "d"),
        ("postgresql://u@[::1]:6/d", vec![tcp("::1", 6)], "u", None, "d"),
        ("postgresql://u@a:1,b:2,c/d", vec![tcp("a", 1), tcp("b", 2), tcp("c", 5432)], "u", None, "d"),
        ("host=a,b port=9 user=u", vec![tcp("a", 9), tcp("b", 9)], "u", None, "u"),
        ("host=a,/run/pg port=1,2 user=u", vec![tcp("a", 1), socket("/run/pg", 2)], "u", None, "u"),
        ("postgresql://u@h/d?keepalives=1&client_encoding=utf8", vec![tcp("h", 5432)], "u", None, "d"),
    ] {
        let got = read(text);
        assert_eq!(got.addresses, addresses, "{text}");
        assert_eq!(got.user, user, "{text}");
        assert_eq!(got.password.as_ref().map(Password::reveal), password, "{text}");
        assert_eq!(got.database, database, "{text}");
    }
}

#[test]
fn what_modifies_the_session_is_kept() {
    let got = read(
        "postgresql://u@h/d?options=-c%20geqo%3Doff&application_name=reports&connect_timeout=3&sslmode=verify-full\
         &sslrootcert=/etc/ca.pem&target_session_attrs=standby&channel_binding=require",
    );
    assert_eq!(got.options.as_deref(), Some("-c geqo=off"));
    assert_eq!(got.application_name, "reports");
    assert_eq!(got.connect_timeout, Duration::from_secs(3));
    assert_eq!(got.ssl_mode, SslMode::VerifyFull);
    assert_eq!(got.root_certificates, RootCertificates::File("/etc/ca.pem".into()));
    assert_eq!(got.session_target, SessionTarget::Standby);
    assert_eq!(got.channel_binding, ChannelBinding::Require);
    assert_eq!(read("host=h user=u sslmode=require sslrootcert=/ca").ssl_mode, SslMode::VerifyCa);
    assert_eq!(read("host=h user=u sslrootcert=system").ssl_mode, SslMode::VerifyFull);
    assert_eq!(read("host=h user=u").ssl_mode, SslMode::Prefer);
    assert_eq!(read("postgres://u@h/d?ssl=true").ssl_mode, SslMode::Require);
}

#[test]
fn a_wrong_string_is_told_without_a_piece_of_it() {
    for (text, want) in [
        ("", "empty"),
        ("host=h user=u gssencmode=require", "GSSAPI"),
        ("postgresql://u@h/d?ssl_min_protocol_version=TLSv1.3", "newest"),
        ("postgresql://u:hunter2@x@h/d", "%40"),
        ("postgresql://u:hunter2%@h/d", "percent-escape"),
        ("postgresql://u:hunter2%zz@h/d", "percent-escape"),
        ("postgresql://u:hunter2%00@h/d", "percent-escape"),
        ("postgresql://u:hunter2/x@h/d", "port"),
        ("postgresql://u:hunter2?x@h/d", "not `name=value`"),
        ("postgresql://u:p@h/d?hunter2=x", "parameter 1"),
        ("postgresql://u@h:hunter2/d", "port"),
        ("postgresql://u@h:1:2/d", "host"),
        ("postgresql://u@[::1/d", "host"),
        ("user=u password=hunter2 secret host=h", "not `name=value`"),
        ("user=u password=my hunter2=x", "does not know"),
        ("user=u password='hunter2", "not `name=value`"),
        ("user=u host=h sslmode=hunter2", "sslmode"),
        ("user=u host=h port=0", "port"),
        ("user=u host=a,b,c port=1,2", "port"),
        ("user=u host=h sslcert=/x", "both sslcert and sslkey"),
        ("user=u host=h service=hunter2", "`service` is not supported"),
        ("user=u host=h connect_timeout=soon", "connect_timeout"),
        ("user=u host=h\u{1}", "control"),
        ("hunter2", "not `name=value`"),
    ] {
        let error = text.parse::<ConnectionString>().expect_err(text).to_string();
        assert!(error.contains(want), "{text}: {error}");
        assert!(!error.contains("hunter2"), "{text}: {error}");
    }
}

#[test]
fn nothing_that_prints_it_prints_the_password() {
    for text in ["postgresql://u:hunter2@h/d", "host=h user=u dbname=d password=hunter2"] {
        let got = read(text);
        assert!(got.has_password());
        assert!(!format!("{got:?} {got:#?} {got}").contains("hunter2"));
        assert_eq!(got.to_string(), "database `d` as `u` at h:5432");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}") {
        let _ = text.parse::<ConnectionString>();
        let _ = format!("postgresql://{text}").parse::<ConnectionString>();
        let _ = format!("user=u {text}").parse::<ConnectionString>();
    }
}
