
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'changed' end
redis.call('DEL', KEYS[1])
if redis.call('GET', KEYS[3]) == ARGV[2] then redis.call('DEL', KEYS[3]) end
redis.call('SREM', KEYS[2], ARGV[2])
return 'ok'
