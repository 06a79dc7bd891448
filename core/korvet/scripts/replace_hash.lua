-- Gives a hash these fields and no others, and no expiry. It is never absent meanwhile: in a slot
-- that migrates, a script cannot access a key that it has deleted.
local function replace_hash(key, ...)
  local before, kept = redis.call('HKEYS', key), {}
  redis.call('HSET', key, ...)
  for i = 1, select('#', ...), 2 do kept[select(i, ...)] = true end
  for _, field in ipairs(before) do
    if not kept[field] then redis.call('HDEL', key, field) end
  end
  redis.call('PERSIST', key)
end
