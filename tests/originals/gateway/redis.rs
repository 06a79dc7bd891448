//! In the place of the crate redis: the part of it that the gateway's store uses, on a Unix socket.
//! It blocks, so that every future is ready at once, and prints each command with its reply as a
//! line of JSON. Numbers are written as the crate writes them, floats by the crate ryu.
//! With `wait_before_requests`, a request is sent when the input has another line.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

static WAITS: AtomicBool = AtomicBool::new(false);

/// Makes each request print {"waits":true} and read a line before it is sent.
pub fn wait_before_requests() {
    WAITS.store(true, Ordering::SeqCst);
}

type Words = Vec<Vec<u8>>;

#[derive(Debug)]
pub struct RedisError(pub String);
pub type RedisResult<T> = Result<T, RedisError>;

fn fail<T>(message: &str) -> RedisResult<T> {
    Err(RedisError(message.to_string()))
}

#[derive(Clone, Debug)]
pub enum Value {
    Nil,
    Int(i64),
    Bulk(Vec<u8>),
    Simple(String),
    Error(String),
    Array(Vec<Value>),
}

#[derive(Clone)]
pub struct Client {
    path: String,
}

impl Client {
    pub fn open(path: &str) -> RedisResult<Client> {
        Ok(Client { path: path.to_string() })
    }

    pub async fn get_multiplexed_async_connection(&self) -> RedisResult<aio::MultiplexedConnection> {
        match UnixStream::connect(&self.path) {
            Ok(socket) => Ok(aio::MultiplexedConnection { socket }),
            Err(error) => fail(&error.to_string()),
        }
    }
}

pub mod aio {
    pub struct MultiplexedConnection {
        pub(crate) socket: std::os::unix::net::UnixStream,
    }
}
use aio::MultiplexedConnection;

impl MultiplexedConnection {
    /// Sends the commands in one write.
    fn ask(&mut self, commands: &[Words]) -> Vec<Value> {
        if WAITS.load(Ordering::SeqCst) {
            println!("{{\"waits\":true}}");
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        let mut bytes = Vec::new();
        for words in commands {
            bytes.extend(format!("*{}\r\n", words.len()).into_bytes());
            for word in words {
                bytes.extend(format!("${}\r\n", word.len()).into_bytes());
                bytes.extend(word);
                bytes.extend(b"\r\n");
            }
        }
        self.socket.write_all(&bytes).unwrap();
        let mut replies = Vec::new();
        for words in commands {
            let reply = self.read();
            let texts: Vec<String> = words.iter().map(|word| text(word)).collect();
            println!("{{\"cmd\":[{}],\"reply\":{}}}", texts.join(","), json(&reply));
            replies.push(reply);
        }
        replies
    }

    fn read_line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0u8];
        while line.last() != Some(&b'\n') {
            self.socket.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).unwrap()
    }

    fn read(&mut self) -> Value {
        let line = self.read_line();
        let (kind, rest) = line.split_at(1);
        match kind {
            "+" => Value::Simple(rest.to_string()),
            "-" => Value::Error(rest.to_string()),
            ":" => Value::Int(rest.parse().unwrap()),
            _ if rest == "-1" => Value::Nil,
            "$" => {
                let mut bytes = vec![0; rest.parse::<usize>().unwrap() + 2];
                self.socket.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                Value::Bulk(bytes)
            }
            _ => Value::Array((0..rest.parse().unwrap()).map(|_| self.read()).collect()),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    let mut quoted = "\"".to_string();
    for letter in String::from_utf8_lossy(bytes).chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            _ if u32::from(letter) < 32 => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

fn json(value: &Value) -> String {
    match value {
        Value::Nil => "null".to_string(),
        Value::Int(number) => number.to_string(),
        Value::Bulk(bytes) => text(bytes),
        Value::Simple(simple) => text(simple.as_bytes()),
        Value::Error(error) => format!("{{\"error\":{}}}", text(error.as_bytes())),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
    }
}

pub trait ToRedisArgs {
    fn bytes(&self) -> Vec<u8>;
}

impl ToRedisArgs for f64 {
    fn bytes(&self) -> Vec<u8> {
        ryu::Buffer::new().format(*self).as_bytes().to_vec()
    }
}

impl ToRedisArgs for str {
    fn bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}

macro_rules! displayed {
    ($($kind:ty)*) => {$(
        impl ToRedisArgs for $kind {
            fn bytes(&self) -> Vec<u8> {
                self.to_string().into_bytes()
            }
        }
    )*};
}
displayed!(i32 i64 String);

impl<T: ToRedisArgs + ?Sized> ToRedisArgs for &T {
    fn bytes(&self) -> Vec<u8> {
        (**self).bytes()
    }
}

pub trait FromRedisValue: Sized {
    fn read_from(value: &Value) -> RedisResult<Self>;
}

impl FromRedisValue for () {
    fn read_from(_value: &Value) -> RedisResult<()> {
        Ok(())
    }
}

impl FromRedisValue for i64 {
    fn read_from(value: &Value) -> RedisResult<i64> {
        match value {
            Value::Int(number) => Ok(*number),
            _ => fail("not an integer"),
        }
    }
}

impl FromRedisValue for bool {
    fn read_from(value: &Value) -> RedisResult<bool> {
        Ok(i64::read_from(value)? != 0)
    }
}

impl FromRedisValue for String {
    fn read_from(value: &Value) -> RedisResult<String> {
        match value {
            Value::Bulk(bytes) => String::from_utf8(bytes.clone()).or(fail("not UTF-8")),
            Value::Simple(simple) => Ok(simple.clone()),
            _ => fail("not a text"),
        }
    }
}

impl FromRedisValue for f64 {
    fn read_from(value: &Value) -> RedisResult<f64> {
        String::read_from(value)?.parse().or(fail("not a float"))
    }
}

impl<T: FromRedisValue> FromRedisValue for Option<T> {
    fn read_from(value: &Value) -> RedisResult<Option<T>> {
        match value {
            Value::Nil => Ok(None),
            _ => Ok(Some(T::read_from(value)?)),
        }
    }
}

impl<T: FromRedisValue> FromRedisValue for (T,) {
    fn read_from(value: &Value) -> RedisResult<(T,)> {
        match value {
            Value::Array(items) if items.len() == 1 => Ok((T::read_from(&items[0])?,)),
            _ => fail("not one value"),
        }
    }
}

fn result<T: FromRedisValue>(value: &Value) -> RedisResult<T> {
    match value {
        Value::Error(error) => fail(error),
        _ => T::read_from(value),
    }
}

pub struct Cmd {
    words: Words,
}

pub fn cmd(name: &str) -> Cmd {
    Cmd { words: vec![name.bytes().collect()] }
}

impl Cmd {
    pub fn arg<A: ToRedisArgs>(&mut self, argument: A) -> &mut Cmd {
        self.words.push(argument.bytes());
        self
    }

    pub async fn query_async<T: FromRedisValue>(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<T> {
        result(&connection.ask(&[self.words.clone()])[0])
    }
}

/// A transaction: the gateway has no other pipelines.
pub struct Pipeline {
    commands: Vec<Words>,
    ignored: Vec<bool>,
}

pub fn pipe() -> Pipeline {
    Pipeline { commands: Vec::new(), ignored: Vec::new() }
}

impl Pipeline {
    pub fn atomic(&mut self) -> &mut Pipeline {
        self
    }

    pub fn cmd(&mut self, name: &str) -> &mut Pipeline {
        self.commands.push(vec![name.bytes().collect()]);
        self.ignored.push(false);
        self
    }

    pub fn arg<A: ToRedisArgs>(&mut self, argument: A) -> &mut Pipeline {
        self.commands.last_mut().unwrap().push(argument.bytes());
        self
    }

    pub fn ignore(&mut self) -> &mut Pipeline {
        *self.ignored.last_mut().unwrap() = true;
        self
    }

    /// An error of any command is that of the transaction, also of one whose value is ignored.
    pub async fn query_async<T: FromRedisValue>(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<T> {
        let mut commands = vec![vec![b"MULTI".to_vec()]];
        commands.extend(self.commands.clone());
        commands.push(vec![b"EXEC".to_vec()]);
        let replies = connection.ask(&commands);
        let Some(Value::Array(results)) = replies.last() else {
            return fail("EXEC failed");
        };
        let mut kept = Vec::new();
        for (value, ignored) in results.iter().zip(&self.ignored) {
            result::<()>(value)?;
            if !ignored {
                kept.push(value.clone());
            }
        }
        T::read_from(&Value::Array(kept))
    }
}

#[allow(async_fn_in_trait)]
pub trait AsyncCommands {
    async fn get<K: ToRedisArgs, T: FromRedisValue>(&mut self, key: K) -> RedisResult<T>;
    async fn ttl<K: ToRedisArgs, T: FromRedisValue>(&mut self, key: K) -> RedisResult<T>;
    async fn expire<K: ToRedisArgs, T: FromRedisValue>(
        &mut self,
        key: K,
        seconds: i64,
    ) -> RedisResult<T>;
}

impl AsyncCommands for MultiplexedConnection {
    async fn get<K: ToRedisArgs, T: FromRedisValue>(&mut self, key: K) -> RedisResult<T> {
        cmd("GET").arg(key).query_async(self).await
    }

    async fn ttl<K: ToRedisArgs, T: FromRedisValue>(&mut self, key: K) -> RedisResult<T> {
        cmd("TTL").arg(key).query_async(self).await
    }

    async fn expire<K: ToRedisArgs, T: FromRedisValue>(
        &mut self,
        key: K,
        seconds: i64,
    ) -> RedisResult<T> {
        cmd("EXPIRE").arg(key).arg(seconds).query_async(self).await
    }
}
