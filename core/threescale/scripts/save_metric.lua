
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[2] ~= ARGV[3] and redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[3], ARGV[1])
redis.call('SET', KEYS[1], ARGV[3])
if ARGV[4] then redis.call('SET', KEYS[4], ARGV[4]) end
redis.call('SADD', KEYS[5], ARGV[1])
return 1
