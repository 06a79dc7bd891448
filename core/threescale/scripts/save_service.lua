
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[6] == '1' then redis.call('SET', KEYS[1], ARGV[2]) end
redis.call('SET', KEYS[2], ARGV[5])
if ARGV[7] then redis.call('SET', KEYS[3], ARGV[7]) end
redis.call('SET', KEYS[4], ARGV[3])
redis.call('SET', KEYS[5], ARGV[4])
redis.call('SADD', KEYS[6], ARGV[2])
redis.call('SADD', KEYS[7], ARGV[2])
redis.call('SADD', KEYS[8], ARGV[3])
return 1
