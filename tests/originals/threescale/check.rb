# Runs the operations of goldens again on the original, and prints where the outcome is another: shows that the recorder
# and the checkout are those of the goldens. Arguments: the socket of a redis-server, and goldens.
require_relative "golden"

module Recorder
  # Whether a golden cannot be run again; one of them abbreviates its transactions by a text.
  def self.left_out?(golden)
    ops = golden.fetch("ops", [])
    ops.empty? || ops.any? { |op| op["args"]["transactions"].is_a?(String) }
  end

  # The order of the keys of a DEL, and of an MGET after a SCAN, may be that of the SCAN.
  def self.sorted(trips)
    after_scan = false
    trips.map do |trip|
      trip.map do |words|
        any_order = words.first == "DEL" || (after_scan && words.first == "MGET")
        after_scan = words.first == "SCAN"
        any_order ? [words.first, *words.drop(1).sort] : words
      end
    end
  end

  def self.seconds(text) = Time.utc(*text.scan(/\d+/).map(&:to_i)).to_i

  def self.sequence_of(golden)
    ops = golden["ops"].map do |op|
      name, label = op["op"].split(" ", 2)
      args = op["args"]
      args = args.merge("hook" => "raises") if label == "(hook raises)"
      { op: name.sub("raw_del_simulating_ttl_expiry", "del"), now: seconds(op["now"]), args: args }
    end
    { name: golden["name"], memoizer: golden["memoizer"], config: golden["config"], ops: ops }
  end

  # Returns the first difference of two values as text, or nil.
  def self.difference(old, new, path = "")
    return if old == new || (path.end_with?("/ttl") && (old - new).abs <= 1)
    if old.is_a?(Hash) && new.is_a?(Hash)
      return (old.keys | new.keys).filter_map { |key| difference(old[key], new[key], "#{path}/#{key}") }.first
    end
    if old.is_a?(Array) && new.is_a?(Array) && old.size == new.size
      return old.each_index.filter_map { |i| difference(old[i], new[i], "#{path}/#{i}") }.first
    end
    "#{path}: #{JSON.generate(old)[0, 600]} recorded, now #{JSON.generate(new)[0, 600]}"
  end
end

client = Recorder::Client.new(ARGV.shift)
failed = ARGV.count do |path|
  golden = JSON.parse(File.read(path))
  if Recorder.left_out?(golden)
    puts "#{path}: left out"
    next
  end
  again = JSON.parse(JSON.generate(Recorder::Recording.new(client, Recorder.sequence_of(golden)).golden("")))
  %w[ops keyspace keyspace_seed_format].any? do |part|
    old, new = golden[part], again[part]
    old = old.map { |op| op.merge("op" => nil, "args" => nil, "round_trips" => Recorder.sorted(op["round_trips"] || [])) } if part == "ops"
    new = new.map { |op| op.merge("op" => nil, "args" => nil, "round_trips" => Recorder.sorted(op["round_trips"] || [])) } if part == "ops"
    found = Recorder.difference(old, new, "/#{part}")
    puts "#{path}#{found}" if found
    found
  end
end
puts "#{failed} differ"
exit(failed.zero? ? 0 : 1)
