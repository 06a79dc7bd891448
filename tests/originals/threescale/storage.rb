# The Redis client of the original while it is recorded: a small one of our own, because it has to know which commands
# share a round trip. The names of its methods, the words that they send and what they return are those of redis-rb 5.
require "socket"

class Redis
  class BaseError < StandardError; end
  class CommandError < BaseError; end
  class BaseConnectionError < BaseError; end
end

module Recorder
  # A word as redis-client sends it, the connection of redis-rb 5.
  def self.word(value)
    case value
    when String, Symbol, Integer, Float then value.to_s
    else raise TypeError, "Unsupported command argument type: #{value.class}"
    end
  end

  # The commands that the original sends, by the name of the method: words in, [words, what becomes of the reply] out.
  module Commands
    AS_IS = ->(reply) { reply }
    IS_ONE = ->(reply) { reply.is_a?(Integer) ? reply == 1 : reply }
    IS_OK = ->(reply) { reply == "OK" }

    %i[get mget incr incrby expire del sadd srem smembers scard hset lpush rpush ltrim lrange llen setex zadd zcard
       zrevrange zremrangebyscore].each do |name|
      define_method(name) { |*words| send_words([name.to_s.upcase, *words.flatten], AS_IS) }
    end
    { exists?: "EXISTS", sadd?: "SADD", srem?: "SREM", sismember: "SISMEMBER" }.each do |name, word|
      define_method(name) { |*words| send_words([word, *words.flatten], IS_ONE) }
    end

    def scan(cursor, count:) = send_words(["SCAN", cursor, "COUNT", count], AS_IS)

    def sscan(key, cursor, count:) = send_words(["SSCAN", key, cursor, "COUNT", count], AS_IS)

    def set(key, value, ex: nil, nx: false)
      words = ["SET", key, value]
      words += ["EX", ex] if ex
      words << "NX" if nx
      send_words(words, nx ? IS_OK : AS_IS)
    end
  end

  # Collects the commands of one round trip.
  class Pipeline
    include Commands
    attr_reader :commands

    def initialize
      @commands = []
    end

    def send_words(words, convert)
      @commands << [words.map { |word| Recorder.word(word) }, convert]
      nil
    end
  end

  class Client
    include Commands
    attr_reader :trips

    def initialize(socket_path)
      @socket = UNIXSocket.new(socket_path)
      forget
    end

    def forget
      @trips = []
    end

    def send_words(words, convert)
      words = words.map { |word| Recorder.word(word) }
      @trips << [words]
      reply = ask([words]).first
      raise reply if reply.is_a?(Redis::CommandError)

      convert.call(reply)
    end

    def pipelined
      pipeline = Pipeline.new
      yield pipeline
      return [] if pipeline.commands.empty?

      @trips << pipeline.commands.map(&:first)
      replies = ask(pipeline.commands.map(&:first))
      failed = replies.find { |reply| reply.is_a?(Redis::CommandError) }
      raise failed if failed

      replies.zip(pipeline.commands).map { |reply, (_, convert)| convert.call(reply) }
    end

    # Sends commands that are no part of the recording, and returns their replies.
    def ask(commands)
      commands.each do |words|
        @socket.write("*#{words.size}\r\n", *words.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" })
      end
      commands.map { read_reply }
    end

    private

    def read_reply
      line = @socket.gets("\r\n").chomp("\r\n").force_encoding("UTF-8")
      rest = line[1..]
      case line[0]
      when "+" then rest
      when "-" then Redis::CommandError.new(rest)
      when ":" then rest.to_i
      when "$" then rest == "-1" ? nil : read_text(rest.to_i)
      when "*" then rest == "-1" ? nil : Array.new(rest.to_i) { read_reply }
      else raise "unexpected reply: #{line}"
      end
    end

    def read_text(size)
      @socket.read(size + 2)[0, size].force_encoding("UTF-8")
    end
  end
end
