if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return {25, 0} end
local at = 3
for i = 3, #KEYS do
  local text = redis.call('HGET', KEYS[2], ARGV[at]) or ''
  if string.match(text, '^%S+') ~= ARGV[1] then return {22, 0} end
  at = at + 2 + ARGV[at + 1]
end

local acknowledged = 0
at = 3
for i = 3, #KEYS do
  local last = at + 1 + ARGV[at + 1]
  for first = at + 2, last, 1000 do
    acknowledged = acknowledged +
        redis.call('XACK', KEYS[i], ARGV[2], unpack(ARGV, first, math.min(first + 999, last)))
  end
  at = last + 1
end
return {0, acknowledged}
