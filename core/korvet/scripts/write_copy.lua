local copy = redis.call('HMGET', KEYS[1], 'epoch', 'id')
local before, epoch = tonumber(copy[1] or '') or 0, tonumber(ARGV[1])
if before == epoch and copy[2] == ARGV[4] then return 0 end
if before >= epoch and before > 0 then return before end
if ARGV[2] == 'make' then redis.call('DEL', KEYS[2]) end
if copy[2] == ARGV[4] then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], unpack(ARGV, 3))
else
  replace_hash(KEYS[1], 'epoch', ARGV[1], unpack(ARGV, 3))
end
return -1
