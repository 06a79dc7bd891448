
local present = redis.call('GET', KEYS[1])
if (present and '=' .. present or '') ~= ARGV[2] then return 0 end
local last = #KEYS
if ARGV[5] ~= '' then
  if redis.call('EXISTS', KEYS[last]) ~= tonumber(ARGV[5]) then return 2 end
  last = last - 1
end
local leave = 2 + tonumber(ARGV[4])
for i = 3, leave do redis.call('SREM', KEYS[i], ARGV[1]) end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], ARGV[1])
  return 1
end
redis.call('SET', KEYS[1], string.sub(ARGV[3], 2))
redis.call('SADD', KEYS[2], ARGV[1])
for i = leave + 1, last do redis.call('SADD', KEYS[i], ARGV[1]) end
return 1
