local epoch = table.remove(ARGV)
local is_settled = table.remove(ARGV) == '1'
local copy = redis.call('HMGET', KEYS[2], 'id', 'epoch', 'valueType')
if copy[1] == ARGV[1] or copy[1] and string.lower(copy[1]) == ARGV[2] then
  if (tonumber(copy[2] or '') or 0) < tonumber(epoch) then return {-4} end
  if not copy[3] and ARGV[8] ~= '' and not is_settled then return {-3} end
end
