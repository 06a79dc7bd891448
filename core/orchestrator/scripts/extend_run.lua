-- Lets the keys of a run live longer; those that live long enough, or for ever, stay as they are.
--
-- KEYS: any of the run.
-- ARGV: the time to live in milliseconds.
-- Answers how many keys it prolonged.
local prolonged = 0
for _, key in ipairs(KEYS) do
  local remaining = redis.call('PTTL', key)
  if remaining >= 0 and remaining < tonumber(ARGV[1]) then
    prolonged = prolonged + redis.call('PEXPIRE', key, ARGV[1])
  end
end
return prolonged
