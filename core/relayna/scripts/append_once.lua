
local fields = 9
local appends = #KEYS / 3
for i = 0, appends - 1 do
  redis.call('LLEN', KEYS[3 * i + 2])
  if ARGV[fields * i + 4] == '1' then redis.call('SCARD', KEYS[3 * i + 3]) end
end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 0, appends - 1 do
  local seen = ARGV[fields * i + 8]
  if seen ~= '' then
    local text = {}
    for _, element in ipairs(redis.call('LRANGE', KEYS[3 * i + 2], 0, -1)) do
      text[#text + 1] = element .. '\n'
    end
    if redis.sha1hex(table.concat(text)) ~= seen then return -1 end
  end
end
for i = 0, appends - 1 do
  local marker, list, set = KEYS[3 * i + 1], KEYS[3 * i + 2], KEYS[3 * i + 3]
  local payload, last, ttl, has_set, member, channel, shard_channel, _, place =
      unpack(ARGV, fields * i + 1, fields * i + fields)
  if redis.call('EXISTS', marker) == 0 then
    if ttl == '' then
      redis.call('SET', marker, '1')
    else
      redis.call('SET', marker, '1', 'EX', ttl)
    end
    local next_element = place ~= '0' and redis.call('LINDEX', list, place)
    if place == '0' then
      redis.call('LPUSH', list, payload)
    elseif next_element then
      redis.call('LINSERT', list, 'BEFORE', next_element, payload)
    else
      redis.call('RPUSH', list, payload)
    end
    redis.call('LTRIM', list, '0', last)
    if ttl ~= '' then redis.call('EXPIRE', list, ttl) end
    if has_set == '1' then
      redis.call('SADD', set, member)
      if ttl ~= '' then redis.call('EXPIRE', set, ttl) end
    end
    if channel ~= '' then redis.call('PUBLISH', channel, payload) end
    if shard_channel ~= '' then redis.call('SPUBLISH', shard_channel, payload) end
  end
end
return 1
