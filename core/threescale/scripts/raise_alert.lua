
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 0 end
if KEYS[6] and redis.call('EXISTS', KEYS[6]) == 0 then return 0 end
local alert_id = redis.call('INCR', KEYS[3])
redis.call('SETEX', KEYS[1], ARGV[2], '1')
local event_id = redis.call('INCRBY', KEYS[4], 1)
redis.call('ZADD', KEYS[5], event_id, ARGV[3] .. string.format('%.0f', event_id) .. ARGV[4] ..
           string.format('%.0f', alert_id) .. ARGV[5])
return 1
