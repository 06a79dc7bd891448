
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 0 end
if KEYS[3] and redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
redis.call('SETEX', KEYS[1], ARGV[2], ARGV[3])
return 1
