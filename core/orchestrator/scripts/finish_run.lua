-- Deletes a run that is complete: no token in flight and no approval pending.
--
-- KEYS: counter, pending approvals, context, then all other keys of the run.
-- Answers {1, fields and values of the context, by field} when it deleted the run, {0, {}} when the run is not
-- complete, {-1, {}} when it is gone already.
local counter = redis.call('GET', KEYS[1])
if not counter then return {-1, {}} end
if tonumber(counter) ~= 0 or redis.call('SCARD', KEYS[2]) > 0 then return {0, {}} end
-- Sorted: HGETALL returns the fields of a large hash in no defined order.
local fields = redis.call('HKEYS', KEYS[3])
table.sort(fields)
local context = {}
for _, field in ipairs(fields) do
  context[#context + 1] = field
  context[#context + 1] = redis.call('HGET', KEYS[3], field)
end
-- One by one, because unpack() cannot take as many keys as a large run has.
for _, key in ipairs(KEYS) do redis.call('DEL', key) end
return {1, context}
