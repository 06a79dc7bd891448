# Redouble without a client library: plain sockets. Run with: ruby session_test.rb
require "socket"

PROGRAM = ENV.fetch("REDOUBLE_BIN", "redouble")

# [readme: ruby]
# A shell starts the server and stops it when the pipe closes, however this process ends.
def start_redouble
  port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
  watched = 'exec 3<&0; "$@" </dev/null 3<&- & read -r _ <&3; kill -KILL $!'
  pipe = IO.popen(["/bin/sh", "-c", watched, "sh", PROGRAM, "serve", "--clock", "manual", "--port", port.to_s], "w",
                  out: File::NULL)
  500.times do
    return [TCPSocket.new("127.0.0.1", port), pipe]
  rescue Errno::ECONNREFUSED
    sleep 0.01
  end
  raise "#{PROGRAM} serve does not start"
end

# Sends an inline command and returns the reply, for replies of one line and bulk strings.
def ask(redis, *words)
  redis.write(words.join(" ") + "\r\n")
  line = redis.gets("\r\n", chomp: true)
  return line[1..] unless line.start_with?("$")
  size = line[1..].to_i
  size.negative? ? nil : redis.read(size + 2)[0...size]
end

redis, _pipe = start_redouble
ask(redis, "SET", "session", "alice", "PX", 1500)
ask(redis, "SIM", "CLOCK", "ADVANCE", "1500ms")
raise "gone too early" unless ask(redis, "GET", "session") == "alice"
ask(redis, "SIM", "CLOCK", "ADVANCE", "1ms")
raise "still there" unless ask(redis, "GET", "session").nil?
# [end]
puts "passed"
