# Records random sequences of operations on the original; see README.md.
#
#   REDOUBLE_THREESCALE=CHECKOUT ruby record.rb SOCKET FOLDER FIRST_SEED COUNT [LENGTH [wide|cleaning]]
require_relative "golden"
require_relative "cleaning"

socket, folder, first, count, length, kind = ARGV
classes = { "wide" => Recorder::Sequence, "cleaning" => Recorder::Cleaning }
ENV["TZ"] = "UTC"
client = Recorder::Client.new(socket)
source = "recorded by tests/originals/threescale/record.rb from #{ENV.fetch('THREESCALE_SOURCE', 'the original')}"
(first.to_i...(first.to_i + count.to_i)).each do |seed|
  sequence = classes.fetch(kind || "wide").new(seed, (length || 20).to_i).to_h
  golden = Recorder::Recording.new(client, sequence).golden("#{source}; seed #{seed}")
  File.write(File.join(folder, "#{sequence[:name]}.json"), "#{JSON.generate(golden)}\n")
end
