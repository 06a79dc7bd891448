
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 'changed' end
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[2] then return 'taken' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('SET', KEYS[3], ARGV[2])
if KEYS[4] ~= KEYS[3] and redis.call('GET', KEYS[4]) == ARGV[2] then
  redis.call('DEL', KEYS[4])
end
return 'ok'
