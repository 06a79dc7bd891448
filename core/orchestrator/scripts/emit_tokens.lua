-- Stores what a node produced and counts the tokens that follow it, once per token.
--
-- KEYS: applied, counter, context, then the state of each loop that changes.
-- ARGV: the emitting operation (empty when no token follows), the consuming operation, the number
-- of tokens, the prefix of the route's member, the route, the number of loops, for each loop its
-- iteration (empty: the loop has ended), then fields and values for the context.
-- Answers {1, new, route} emitted, {0, current, the recorded route} emitted before, {-1, 0, ''} the
-- run is gone, {-3, current, ''} the token is consumed already: nothing changed.
local text = redis.call('GET', KEYS[2])
if not text then return {-1, 0, ''} end
local counter = tonumber(text)
if not counter then return redis.error_reply('ERR value is not an integer or out of range') end
if redis.call('SISMEMBER', KEYS[1], ARGV[2]) == 1 then return {-3, counter, ''} end
if ARGV[1] ~= '' and redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then
  -- The graph may have been patched since: the tokens go where they were first sent.
  for _, member in ipairs(redis.call('SMEMBERS', KEYS[1])) do
    if string.sub(member, 1, #ARGV[4]) == ARGV[4] then
      return {0, counter, string.sub(member, #ARGV[4] + 1)}
    end
  end
  return {0, counter, ARGV[5]}
end
-- Types that do not fit fail here, before anything is written.
for i = 3, #KEYS do redis.call('HLEN', KEYS[i]) end

local new = counter
if ARGV[1] ~= '' then
  new = redis.call('INCRBY', KEYS[2], ARGV[3])
  redis.call('SADD', KEYS[1], ARGV[1], ARGV[4] .. ARGV[5])
end
local loops = tonumber(ARGV[6])
for i = 1, loops do
  if ARGV[6 + i] == '' then
    redis.call('DEL', KEYS[3 + i])
  else
    redis.call('HSET', KEYS[3 + i], 'current_iteration', ARGV[6 + i])
  end
end
local fields = {}
for i = 7 + loops, #ARGV do fields[#fields + 1] = ARGV[i] end
if #fields > 0 then redis.call('HSET', KEYS[3], unpack(fields)) end
local remaining = redis.call('PTTL', KEYS[2])
for i, key in ipairs(KEYS) do
  if remaining > 0 and i ~= 2 and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, remaining)
  end
end
return {1, new, ARGV[5]}
