
local second = tonumber(redis.call('TIME')[1])
if math.floor(second / 86400) ~= tonumber(ARGV[1]) then return second end
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return 0 end
local count = redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[2], 'NX')
if count > 1 then return 0 end
local id = redis.call('INCRBY', KEYS[2], 1)
redis.call('ZADD', KEYS[3], id, ARGV[3] .. string.format('%.0f', id) .. ARGV[4])
return 1
