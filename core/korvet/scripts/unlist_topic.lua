-- One command removes all ids: in a slot that migrates, a script cannot access a key that it has
-- deleted.
local removes, is_named = {}, false
for i = 2, #ARGV do removes[ARGV[i]] = true end
local names = redis.call('HGETALL', KEYS[2])
for i = 1, #names, 2 do
  is_named = is_named or names[i + 1] == ARGV[1] and not removes[names[i]]
end
local removed = #ARGV > 1 and redis.call('HDEL', KEYS[2], unpack(ARGV, 2)) or 0
if is_named then return removed end
return removed + redis.call('SREM', KEYS[1], ARGV[1])
