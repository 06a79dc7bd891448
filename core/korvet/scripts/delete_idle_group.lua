-- Deletes a group that has no member and no pending entry.
--
-- KEYS: the group's state, members and partitions; then the streams that have the group.
-- ARGV: the group.
-- Answers 0, or 1 if the group has a member, or the number of the key whose stream has a pending
-- entry. The deadlines follow a clock that was set back, as in group_member.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local back = math.max((tonumber(redis.call('HGET', KEYS[1], 'time') or '0') or 0) - now, 0)
for _, member in ipairs(redis.call('HVALS', KEYS[2])) do
  if tonumber(string.match(member, '^%d+') or '0') - back > now then return 1 end
end
for i = 4, #KEYS do
  local groups = redis.call('EXISTS', KEYS[i]) == 1 and redis.call('XINFO', 'GROUPS', KEYS[i]) or {}
  for _, group in ipairs(groups) do
    local fields = {}
    for j = 1, #group, 2 do fields[group[j]] = group[j + 1] end
    if fields.name == ARGV[1] and fields.pending > 0 then return i end
  end
end
for i = 4, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('XGROUP', 'DESTROY', KEYS[i], ARGV[1]) end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 0
