-- Replaces a record unless it has changed, or expired, since it was read.
--
-- KEYS: the record.
-- ARGV: the text that was read, the new text, the TTL in seconds, or '' for none.
-- Answers 1 if it was replaced, otherwise 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
end
return 1
