
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('SCARD', KEYS[4]) ~= 0 then return 0 end
if redis.call('SCARD', KEYS[3]) ~= #ARGV - 2 then return 0 end
for i = 3, #ARGV do
  if redis.call('SISMEMBER', KEYS[3], ARGV[i]) == 0 then return 0 end
end
for i = 3, #ARGV do
  redis.call('SET', KEYS[i + 2], ARGV[2])
  redis.call('SADD', KEYS[4], ARGV[i])
end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3])
return 1
