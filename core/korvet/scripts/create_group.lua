
local id, partitions = unpack(redis.call('HMGET', KEYS[2], 'id', 'partitions'))
if not id or not partitions then return 3 end
if id ~= ARGV[1] and string.lower(id) ~= ARGV[2] then return 103 end
local words = {'XGROUP', 'CREATE', KEYS[1], ARGV[3], ARGV[4], 'MKSTREAM'}
if ARGV[5] ~= '' then
  words[7], words[8] = 'ENTRIESREAD', ARGV[5]
end
local reply = redis.pcall(unpack(words))
if reply.err and string.sub(reply.err, 1, 9) ~= 'BUSYGROUP' then
  return redis.error_reply(reply.err)
end
return 0
