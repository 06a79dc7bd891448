
local acknowledged = 0
while true do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], '-', ARGV[2], 1000, ARGV[3])
  if #pending == 0 then return acknowledged end
  local words = {'XACK', KEYS[1], ARGV[1]}
  for i = 1, #pending do words[i + 3] = pending[i][1] end
  acknowledged = acknowledged + redis.call(unpack(words))
end
