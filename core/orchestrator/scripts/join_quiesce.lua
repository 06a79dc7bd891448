-- Fires the first join that holds parked tokens when nothing else can arrive: all of the run's
-- tokens are parked and no approval is pending.
--
-- KEYS: counter, pending approvals, the pending tokens of each join, applied.
-- ARGV: the joins, in the order of their keys, and the loops that the run is in, as a token's id
-- ends with them (optional).
-- Answers {index, count} of the join that fired, counted from 1; {0, 0} when there is nothing to do.
-- With the optional argument also the id of the token to publish, and the same join can fire again
-- under another id. An id that says more than the firing operation does is remembered beside it.
local text = redis.call('GET', KEYS[1])
local nothing = {0, 0, ''}
local joins = #KEYS - 3
local loops = ARGV[joins + 1]
if not loops then nothing = {0, 0} end
if not text or redis.call('SCARD', KEYS[2]) > 0 then return nothing end
local parked, first, count = 0, 0, 0
for i = 3, #KEYS - 1 do
  local size = redis.call('SCARD', KEYS[i])
  parked = parked + size
  if size > 0 and first == 0 then first, count = i, size end
end
if parked == 0 or tonumber(text) ~= parked then return nothing end
local applied = KEYS[#KEYS]
local name = ARGV[first - 2] .. ':quiesce'
if not loops then
  redis.call('SADD', applied, 'fire:' .. name)
  redis.call('DEL', KEYS[first])
  return {first - 2, count}
end
local generation = 1
local fired = name
while redis.call('SISMEMBER', applied, 'fire:' .. fired) == 1 do
  generation = generation + 1
  fired = name .. ':' .. generation
end
redis.call('SADD', applied, 'fire:' .. fired)
local suffix = loops
if count > 1 then suffix = '.k' .. count .. loops end
if suffix ~= '' then redis.call('SADD', applied, 'publish:join:' .. fired .. suffix) end
redis.call('DEL', KEYS[first])
return {first - 2, count, 'join:' .. fired .. suffix}
