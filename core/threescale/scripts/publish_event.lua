
local id = redis.call('INCRBY', KEYS[1], 1)
redis.call('ZADD', KEYS[2], id, ARGV[1] .. string.format('%.0f', id) .. ARGV[2])
return id
