-- Replaces a run's graph, unless somebody else replaced it meanwhile or the run has gone too far.
--
-- KEYS: ir, context.
-- ARGV: the SHA-1 of the graph's text that was patched, the new text, then fields of the context
-- none of which may be there.
-- Answers 1 replaced, 0 the graph is another one by now, -1 the run is gone, -2 a field is there.
local text = redis.call('GET', KEYS[1])
if not text then return -1 end
if redis.sha1hex(text) ~= ARGV[1] then return 0 end
for i = 3, #ARGV do
  if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then return -2 end
end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
