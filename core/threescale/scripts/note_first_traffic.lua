
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return 0 end
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 then return 0 end
local id = redis.call('INCRBY', KEYS[2], 1)
redis.call('ZADD', KEYS[3], id, ARGV[2] .. string.format('%.0f', id) .. ARGV[3])
return 1
