# Reads texts as hexadecimal digits, one a line, and writes the seconds since 1970 of each, or "none": the
# timestamps of reports as 3scale's listener reads them. Times beyond 30 million years are "far".
require "date"

FAR = 10**15

def bounded(seconds)
  seconds.abs > FAR ? "far" : seconds
end

def seconds(text)
  begin
    return bounded(Integer(text))
  rescue ArgumentError
    # Not a number.
  end
  parts = begin
    Date._parse(text)
  rescue ArgumentError, RangeError, TypeError
    {} # The original does not expect a RangeError, which ends the job of the report.
  end
  return "none" unless %i[year mon mday].all? { |name| parts.key?(name) }

  fields = parts.values_at(:year, :mon, :mday, :hour, :min, :sec)
  time = Time.utc(*fields, parts[:sec_fraction])
  time -= parts[:offset] if parts[:offset]
  bounded(time.to_i)
rescue ArgumentError, RangeError
  "none"
end

$stdin.each_line { |line| puts seconds([line.chomp].pack("H*").force_encoding("UTF-8")) }
