-- Those members of a set that begin with one of some prefixes, sorted: the same answer everywhere,
-- however the server keeps its sets, and no more of it than asked for.
--
-- KEYS: the set.
-- ARGV: the prefixes.
-- Answers the members.
local found = {}
for _, member in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  for _, prefix in ipairs(ARGV) do
    if string.sub(member, 1, #prefix) == prefix then
      found[#found + 1] = member
      break
    end
  end
end
table.sort(found)
return found
