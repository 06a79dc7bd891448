
local id, partitions = unpack(redis.call('HMGET', KEYS[1], 'id', 'partitions'))
if id and partitions then return 0 end
if id and redis.call('HGET', KEYS[3], id) == ARGV[1] then redis.call('HDEL', KEYS[3], id) end
local listed = redis.call('SREM', KEYS[2], ARGV[1])
return math.max(redis.call('DEL', KEYS[1]), listed)
