# Runs a sequence of operations on the original, and returns the recording in the format of tests/data/golden/threescale.
require_relative "operations"

module Recorder
  # Stamps of a fixed width: the other of the two formats in which goldens are replayed.
  module FixedWidth
    FORMATS = { hour: "%Y%m%d%H", minute: "%Y%m%d%H%M" }.freeze

    class << self
      attr_accessor :on
    end

    def counter_key(prefix, period)
      format = FORMATS[period.granularity.to_sym]
      FixedWidth.on && format ? "#{prefix}/#{period.granularity}:#{period.start.strftime(format)}" : super
    end
  end

  Stats::Keys.singleton_class.prepend(FixedWidth)
  [Stats::Aggregators::Usage, Stats::Aggregators::ResponseCode].each { |each| each.singleton_class.prepend(FixedWidth) }

  class Recording
    include ThreeScale::Backend

    def initialize(client, sequence)
      @client = client
      @sequence = sequence
    end

    # Returns the golden. The sequence is run twice, because its keys depend on the format of stamps.
    def golden(source)
      fixed = FixedWidth.on = true
      run
      fixed = keyspace
      FixedWidth.on = false
      operations = run
      trimmed = keyspace
      golden = { name: @sequence[:name], source: source, redis: version, memoizer: @sequence[:memoizer],
                 config: @sequence[:config], ops: operations, keyspace: trimmed }
      fixed == trimmed ? golden : golden.merge(keyspace_seed_format: fixed)
    end

    private

    def version
      @client.ask([%w[INFO server]]).first[/^redis_version:(\S+)/, 1]
    end

    def run
      @client.ask([["FLUSHALL"]])
      Storage.instance = @client
      @sequence[:config].each { |name, value| ThreeScale::Backend.configuration[name] = value }
      Resque.jobs.clear
      HOOK_CALLS.clear
      Time.frozen_at = 0
      Memoizer.reset!
      @sequence[:ops].map { |op| step(op) }
    ensure
      Time.frozen_at = nil
    end

    def step(operation)
      Time.frozen_at = operation[:now]
      Memoizer.reset! if @sequence[:memoizer] == "reset_each_op"
      @client.forget
      arguments = JSON.parse(JSON.generate(operation[:args]))
      outcome = begin
        { result: TABLE.fetch(operation[:op]).call(arguments) }
      rescue ThreeScale::Backend::Error, Redis::CommandError, ArgumentError, RuntimeError, TypeError => e
        { error: Recorder.error_of(e) }
      end
      { op: operation[:op], now: Time.at(operation[:now]).utc.strftime("%Y-%m-%dT%H:%M:%SZ"),
        args: operation[:args].merge(arguments.slice("jobs")), **outcome, round_trips: @client.trips }
    end

    def keyspace
      keys = @client.ask([%w[KEYS *]]).first.sort
      keys.to_h do |key|
        type, ttl = @client.ask([["TYPE", key], ["TTL", key]])
        [key, { type: type, value: value_of(key, type), ttl: ttl }]
      end
    end

    def value_of(key, type)
      case type
      when "string" then @client.ask([["GET", key]]).first
      when "set" then @client.ask([["SMEMBERS", key]]).first.sort
      when "list" then @client.ask([["LRANGE", key, "0", "-1"]]).first
      when "hash" then Hash[*@client.ask([["HGETALL", key]]).first]
      when "zset" then scores(@client.ask([["ZRANGE", key, "0", "-1", "WITHSCORES"]]).first)
      else raise "#{key} is a #{type}"
      end
    end

    def scores(pairs)
      pairs.each_slice(2).map { |member, score| [member, score.to_i] }
    end
  end
end
