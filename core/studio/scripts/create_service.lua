
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
if redis.call('EXISTS', KEYS[3]) == 1 then return 'taken' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[3], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
return 'ok'
