
local id, partitions = unpack(redis.call('HMGET', KEYS[1], 'id', 'partitions'))
if not id or not partitions then return {3, 0} end
local count = string.match(partitions, '^%d+$') and tonumber(partitions)
if not count then return {-1, 0} end
if tonumber(ARGV[1]) <= count then return {37, count} end
redis.call('HSET', KEYS[1], 'partitions', ARGV[1])
return {0, count}
