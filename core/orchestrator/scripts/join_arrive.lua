-- Parks a token at a join; the arrival that completes the join fires it.
--
-- KEYS: pending tokens of the join, applied.
-- ARGV: the join, the predecessor, the token, the number of predecessors needed, and the operation
-- that remembers a token which found its predecessor parked (optional). With the optional argument
-- the join's weight is remembered, too, when a patch has made it more than the number needed.
-- Answers {added, count, fire}. `added` is 1 for a new arrival, 0 for a token that arrived before,
-- -2 when the predecessor is parked already by another token, -1 when nothing was ever applied to
-- the run: it is gone. `fire` is 1 for the arrival that completes the join, however often it comes.
if redis.call('EXISTS', KEYS[2]) == 0 then return {-1, 0, 0} end
local fired = 'fire:' .. ARGV[1] .. ':' .. ARGV[3]
local arrived = 'arrive:' .. ARGV[1] .. ':' .. ARGV[3]
local weight = 'publish:join:' .. ARGV[1] .. ':' .. ARGV[3] .. '|'
if redis.call('SISMEMBER', KEYS[2], fired) == 1 then
  if not ARGV[5] then return {0, tonumber(ARGV[4]), 1} end
  for _, member in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    if string.sub(member, 1, #weight) == weight then
      return {0, tonumber(string.sub(member, #weight + 1)), 1}
    end
  end
  return {0, tonumber(ARGV[4]), 1}
end
local count = redis.call('SCARD', KEYS[1])
if redis.call('SISMEMBER', KEYS[2], arrived) == 1 then return {0, count, 0} end
if ARGV[5] and redis.call('SISMEMBER', KEYS[2], ARGV[5]) == 1 then return {-2, count, 0} end
if redis.call('SISMEMBER', KEYS[1], ARGV[2]) == 1 then
  if ARGV[5] then redis.call('SADD', KEYS[2], ARGV[5]) end
  return {-2, count, 0}
end

redis.call('SADD', KEYS[2], arrived)
count = count + 1
if count >= tonumber(ARGV[4]) then
  redis.call('DEL', KEYS[1])
  redis.call('SADD', KEYS[2], fired)
  if ARGV[5] and count ~= tonumber(ARGV[4]) then redis.call('SADD', KEYS[2], weight .. count) end
  return {1, count, 1}
end
redis.call('SADD', KEYS[1], ARGV[2])
local remaining = redis.call('PTTL', KEYS[2])
if remaining > 0 and redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('PEXPIRE', KEYS[1], remaining)
end
return {1, count, 0}
