local removed = 0
for i = 2, #ARGV do removed = removed + redis.call('HDEL', KEYS[2], ARGV[i]) end
for _, name in ipairs(redis.call('HVALS', KEYS[2])) do
  if name == ARGV[1] then return removed end
end
return removed + redis.call('SREM', KEYS[1], ARGV[1])
