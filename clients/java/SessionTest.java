// Redouble without a client library: plain sockets. Run with: java SessionTest.java
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

// [readme: java]
class SessionTest {
  // A shell starts the server and stops it when the pipe closes, however this process ends.
  static final String WATCHED = "exec 3<&0; \"$@\" </dev/null 3<&- & read -r _ <&3; kill -KILL $!";

  static Process shell; // Holds the pipe open.

  static Socket startRedouble() throws IOException, InterruptedException {
    String program = Objects.requireNonNullElse(System.getenv("REDOUBLE_BIN"), "redouble");
    InetAddress loopback = InetAddress.getByName("127.0.0.1");
    int port;
    try (ServerSocket listener = new ServerSocket(0, 1, loopback)) {
      port = listener.getLocalPort();
    }
    shell = new ProcessBuilder("/bin/sh", "-c", WATCHED, "sh", program, "serve", "--clock", "manual", "--port", "" + port)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
    for (int attempt = 0; attempt < 500; attempt++) {
      try {
        return new Socket(loopback, port);
      } catch (ConnectException notYet) {
        Thread.sleep(10);
      }
    }
    throw new IOException(program + " serve does not start");
  }

  // Sends an inline command and returns the reply, for replies of one line and bulk strings of one.
  static String ask(Socket redis, BufferedReader replies, String command) throws IOException {
    redis.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
    String line = replies.readLine();
    return line.startsWith("$") && !line.equals("$-1") ? replies.readLine() : line;
  }

  public static void main(String[] arguments) throws Exception {
    try (Socket redis = startRedouble()) {
      var replies = new BufferedReader(new InputStreamReader(redis.getInputStream(), StandardCharsets.UTF_8));
      ask(redis, replies, "SET session alice PX 1500");
      ask(redis, replies, "SIM CLOCK ADVANCE 1500ms");
      check("alice", ask(redis, replies, "GET session"));
      ask(redis, replies, "SIM CLOCK ADVANCE 1ms");
      check("$-1", ask(redis, replies, "GET session"));
    }
    System.out.println("passed");
  }

  static void check(String expected, String actual) {
    if (!actual.equals(expected)) throw new AssertionError(actual + ", expected " + expected);
  }
}
// [end]
