-- Consumes a token at an approval: the run waits for the approval instead.
--
-- KEYS: counter, applied, pending approvals, approval.
-- ARGV: the consuming operation, the approval's member, then the approval's fields and values.
-- Answers {1, new} paused, {0, current} paused before, {-1, 0} the run is gone,
-- {-2, current} there is no token to consume.
local text = redis.call('GET', KEYS[1])
if not text then return {-1, 0} end
local counter = tonumber(text)
if not counter then return redis.error_reply('ERR value is not an integer or out of range') end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return {0, counter} end
if counter < 1 then return {-2, counter} end
-- Types that do not fit fail here, before anything is written.
redis.call('SCARD', KEYS[3])
redis.call('HLEN', KEYS[4])

local fields = {}
for i = 3, #ARGV do fields[#fields + 1] = ARGV[i] end
local new = redis.call('INCRBY', KEYS[1], -1)
redis.call('SADD', KEYS[3], ARGV[2])
redis.call('HSET', KEYS[4], unpack(fields))
redis.call('SADD', KEYS[2], ARGV[1])
local remaining = redis.call('PTTL', KEYS[1])
for i = 2, 4 do
  if remaining > 0 and redis.call('PTTL', KEYS[i]) == -1 then
    redis.call('PEXPIRE', KEYS[i], remaining)
  end
end
return {1, new}
