-- Adds a record unless it exists, and its id unless it is listed.
--
-- KEYS: the record, the list of ids.
-- ARGV: the text, the id, the TTL in seconds, or '' for none.
-- Answers 1 if the list changed, otherwise 0.
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '' then
    redis.call('SET', KEYS[1], ARGV[1])
  else
    redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
  end
  redis.call('LREM', KEYS[2], 0, ARGV[2])
elseif redis.call('LPOS', KEYS[2], ARGV[2]) then
  return 0
end
redis.call('LPUSH', KEYS[2], ARGV[2])
if ARGV[3] ~= '' then redis.call('EXPIRE', KEYS[2], ARGV[3]) end
return 1
