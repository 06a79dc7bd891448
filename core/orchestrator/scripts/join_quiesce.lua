-- Fires the first join that holds parked tokens when nothing else can arrive: all of the run's
-- tokens are parked and no approval is pending.
--
-- KEYS: counter, pending approvals, the pending tokens of each join, applied.
-- ARGV: the joins, in the order of their keys.
-- Answers {index, count} of the join that fired, counted from 1; {0, 0} when there is nothing to do.
local text = redis.call('GET', KEYS[1])
if not text or redis.call('SCARD', KEYS[2]) > 0 then return {0, 0} end
local parked, first, count = 0, 0, 0
for i = 3, #KEYS - 1 do
  local size = redis.call('SCARD', KEYS[i])
  parked = parked + size
  if size > 0 and first == 0 then first, count = i, size end
end
if parked == 0 or tonumber(text) ~= parked then return {0, 0} end
redis.call('SADD', KEYS[#KEYS], 'fire:' .. ARGV[first - 2] .. ':quiesce')
redis.call('DEL', KEYS[first])
return {first - 2, count}
