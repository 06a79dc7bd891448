local step, id, uuid = ARGV[1], ARGV[2], ARGV[3]
local names = {'id', 'epoch', 'partitions', 'making', 'adding', 'removing'}
local found = {}
for i, value in ipairs(redis.call('HMGET', KEYS[1], unpack(names))) do found[names[i]] = value end

local function number(name)
  return tonumber(string.match(found[name] or '', '^%d+$'))
end

-- The next epoch. It is not below the time of Redis, so that it exceeds those of a topic of the
-- same name whose hash is gone.
local function rise(least)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local epoch = math.max((number('epoch') or 0) + 1, now, least)
  redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
  return epoch
end

if step == 'claim' then
  if found.id then return {36} end
  replace_hash(KEYS[1], 'id', id, 'making', ARGV[4], unpack(ARGV, 5))
  return {0, rise(0)}
end
if step == 'discard' then
  local is_topic = found.id and (found.partitions or found.making or found.removing)
  return {0, is_topic and 0 or redis.call('DEL', KEYS[1])}
end
if not found.id then return {3} end
if found.id ~= id and string.lower(found.id) ~= uuid then return {103} end

if step == 'remove' then
  if found.removing then return {0, number('epoch') or rise(0), number('removing') or 0} end
  if not found.partitions and not (found.making and ARGV[4] == 'unmade') then return {3} end
  local most = math.max(number('partitions') or 0, number('making') or 0, number('adding') or 0)
  redis.call('HDEL', KEYS[1], 'partitions', 'making', 'adding')
  redis.call('HSET', KEYS[1], 'removing', most)
  return {0, rise(0), most}
elseif step == 'removed' then
  if not found.removing or found.epoch ~= ARGV[4] then return {3} end
  redis.call('DEL', KEYS[1])
  return {0, 0}
elseif step == 'raise' then
  if not found.making or found.epoch ~= ARGV[4] then return {3} end
  return {0, rise(ARGV[5] + 1)}
elseif step == 'reveal' then
  if not found.making or found.epoch ~= ARGV[4] then return {3} end
  redis.call('HSET', KEYS[1], 'partitions', found.making)
  redis.call('HDEL', KEYS[1], 'making')
  return {0, 0}
end

if not found.partitions then return {3} end
local partitions, adding = number('partitions'), number('adding') or 0
if not partitions then return {-1, 'partitions'} end
if step == 'settle' then
  redis.call('HSETNX', KEYS[1], 'valueType', ARGV[4])
  return {0, redis.call('HGET', KEYS[1], 'valueType')}
elseif step == 'add' then
  local total = tonumber(ARGV[4])
  if total <= partitions or total < adding then return {37, math.max(partitions, adding)} end
  redis.call('HSET', KEYS[1], 'adding', ARGV[4])
elseif step == 'added' then
  if found.adding ~= ARGV[4] then return {37, math.max(partitions, adding)} end
  redis.call('HSET', KEYS[1], 'partitions', ARGV[4])
  redis.call('HDEL', KEYS[1], 'adding')
  return {0, 0}
elseif #ARGV > 3 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 4))
end
return {0, rise(0), redis.call('HGETALL', KEYS[1])}
