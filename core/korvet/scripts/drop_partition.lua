local before = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '') or 0
if before > tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[2])
replace_hash(KEYS[1], 'epoch', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
