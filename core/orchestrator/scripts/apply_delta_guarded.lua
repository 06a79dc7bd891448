-- Changes a run's counter once per operation.
--
-- KEYS: applied, counter.
-- ARGV: the operation, the delta.
-- Answers {1, new} applied, {0, current} applied before, {-1, 0} the run is gone,
-- {-2, current} the delta is no integer or would make the counter negative.
local text = redis.call('GET', KEYS[2])
if not text then return {-1, 0} end
local counter = tonumber(text)
if not counter then return redis.error_reply('ERR value is not an integer or out of range') end
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return {0, counter} end
local delta = string.match(ARGV[2], '^%-?[1-9]%d*$') or string.match(ARGV[2], '^0$')
if not delta or counter + tonumber(delta) < 0 then return {-2, counter} end

-- The change that can still fail, by overflow, comes before the one that cannot.
local new = redis.call('INCRBY', KEYS[2], delta)
redis.call('SADD', KEYS[1], ARGV[1])
local remaining = redis.call('PTTL', KEYS[2])
if remaining > 0 and redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('PEXPIRE', KEYS[1], remaining)
end
return {1, new}
