
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local now = {}
local moved = false
for i = 1, 3 do
  local value = redis.call('GET', KEYS[3 + i])
  now[i] = value and '=' .. value or ''
  if now[i] ~= ARGV[7 + i] then moved = true end
end
if moved then return now end
local ttl = ARGV[4]
local function expire(key)
  if ttl ~= '' then redis.call('EXPIRE', key, ttl) end
end
if ttl ~= '' then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ttl)
else
  redis.call('SET', KEYS[1], ARGV[1])
end
for i = 2, 3 do
  redis.call('LPUSH', KEYS[i], ARGV[2])
  redis.call('LTRIM', KEYS[i], 0, ARGV[3])
  expire(KEYS[i])
end
for i = 1, 3 do
  local value = ARGV[10 + i]
  if value ~= '' then
    redis.call('SET', KEYS[3 + i], string.sub(value, 2))
    expire(KEYS[3 + i])
  end
end
redis.call('SET', KEYS[7], ARGV[5])
expire(KEYS[7])
for i = 6, 7 do
  if ARGV[i] ~= '' then redis.call('PUBLISH', ARGV[i], ARGV[1]) end
end
for i = 14, 15 do
  if ARGV[i] ~= '' then redis.call('SPUBLISH', ARGV[i], ARGV[1]) end
end
return 1
