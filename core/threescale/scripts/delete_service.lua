
if redis.call('GET', KEYS[7]) ~= ARGV[2] then return 0 end
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if redis.call('SCARD', KEYS[2]) ~= 1 then return 2 end
  if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 2 end
  redis.call('DEL', KEYS[1], KEYS[2])
else
  redis.call('SREM', KEYS[2], ARGV[1])
end
redis.call('SREM', KEYS[3], ARGV[1])
redis.call('DEL', KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8])
return 1
