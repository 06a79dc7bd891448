-- Stores what a node produced and counts the tokens that follow it, once per token. If asked to, it
-- also publishes them and consumes the token of the node, in the same step.
--
-- KEYS: applied, counter, context, then the state of each loop that changes, then the stream or
-- list of each publication.
-- ARGV: the emitting operation (empty when no token follows), the consuming operation, the number
-- of tokens, the prefix of the route's member, the route, the number of tokens to consume (0: they
-- are consumed later), the number of loops, for each loop its iteration (empty: the loop has
-- ended), the number of words for the context, its fields and values, then for each publication the
-- command, the number of its words after the key, and these words.
-- Answers {1, new, route} emitted, {0, current, the recorded route} emitted before, {-1, 0, ''} the
-- run is gone, {-2, current, ''} the counter would become negative, {-3, current, ''} the token is
-- consumed already: with all but the first, nothing changed.
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
local consumed = tonumber(ARGV[6])
local change = tonumber(ARGV[3]) - consumed
if consumed > 0 and counter + change < 0 then return {-2, counter, ''} end
local loops = tonumber(ARGV[7])
local context = 8 + loops
local words = tonumber(ARGV[context])
-- Types that do not fit fail here, before anything is written.
for i = 3, 3 + loops do redis.call('HLEN', KEYS[i]) end
local at = context + words + 1
for i = 4 + loops, #KEYS do
  redis.call(ARGV[at] == 'xadd' and 'XLEN' or 'LLEN', KEYS[i])
  at = at + 2 + ARGV[at + 1]
end

local new = counter
if change ~= 0 then new = redis.call('INCRBY', KEYS[2], change) end
if ARGV[1] ~= '' then redis.call('SADD', KEYS[1], ARGV[1], ARGV[4] .. ARGV[5]) end
if consumed > 0 then redis.call('SADD', KEYS[1], ARGV[2]) end
for i = 1, loops do
  if ARGV[7 + i] == '' then
    redis.call('DEL', KEYS[3 + i])
  else
    redis.call('HSET', KEYS[3 + i], 'current_iteration', ARGV[7 + i])
  end
end
if words > 0 then redis.call('HSET', KEYS[3], unpack(ARGV, context + 1, context + words)) end
-- In a slot that migrates, a script cannot access a key that it has deleted.
local remaining = redis.call('PTTL', KEYS[2])
for i = 1, 3 + loops do
  local is_deleted = i > 3 and ARGV[4 + i] == ''
  if remaining > 0 and i ~= 2 and not is_deleted and redis.call('PTTL', KEYS[i]) == -1 then
    redis.call('PEXPIRE', KEYS[i], remaining)
  end
end
at = context + words + 1
for i = 4 + loops, #KEYS do
  local last = at + 1 + ARGV[at + 1]
  redis.call(ARGV[at], KEYS[i], unpack(ARGV, at + 2, last))
  at = last + 1
end
return {1, new, ARGV[5]}
