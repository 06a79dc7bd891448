// Redouble without a client library: plain sockets. Run with: rustc --edition 2021 --test session_test.rs && ./session_test
// [readme: rust]
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::{env, thread, time::Duration};

// A shell starts the server and stops it when the pipe closes, however this process ends.
const WATCHED: &str = r#"exec 3<&0; "$@" </dev/null 3<&- & read -r _ <&3; kill -KILL $!"#;

struct Redouble {
    shell: Child,
    replies: BufReader<TcpStream>,
}

impl Redouble {
    fn start() -> Redouble {
        let program = env::var("REDOUBLE_BIN").unwrap_or("redouble".into());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let shell = Command::new("/bin/sh")
            .args(["-c", WATCHED, "sh", &program, "serve", "--clock", "manual", "--port"])
            .arg(address.port().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..500 {
            if let Ok(connection) = TcpStream::connect(address) {
                return Redouble { shell, replies: BufReader::new(connection) };
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{program} serve does not start");
    }

    // Sends an inline command and returns the reply, for replies of one line and bulk strings of one.
    fn ask(&mut self, command: &str) -> String {
        write!(self.replies.get_mut(), "{command}\r\n").unwrap();
        let line = self.line();
        if line.starts_with('$') && line != "$-1" { self.line() } else { line }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        line.trim_end().to_string()
    }
}

impl Drop for Redouble {
    fn drop(&mut self) {
        self.shell.stdin.take();
        self.shell.wait().unwrap();
    }
}

#[test]
fn a_session_expires() {
    let mut redis = Redouble::start();
    redis.ask("SET session alice PX 1500");
    redis.ask("SIM CLOCK ADVANCE 1500ms");
    assert_eq!(redis.ask("GET session"), "alice");
    redis.ask("SIM CLOCK ADVANCE 1ms");
    assert_eq!(redis.ask("GET session"), "$-1");
}
// [end]
