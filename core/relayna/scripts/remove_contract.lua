
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
if ARGV[3] == '1' then redis.call('DEL', KEYS[1]) end
return 1
