
local seen = ARGV[1] == '1' and ARGV[2]
if redis.call('GET', KEYS[1]) ~= seen then return 0 end
local failure
for i = 1, 2 do
  local reply = redis.pcall('INCRBYFLOAT', KEYS[i + 1], ARGV[3])
  if type(reply) == 'table' and reply.err then failure = failure or reply.err end
  if ARGV[i + 5] ~= '' then redis.call('EXPIRE', KEYS[i + 1], ARGV[i + 5], 'NX') end
end
if ARGV[4] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[4], 'EX', ARGV[5])
end
if failure then return redis.error_reply(failure) end
return 1
