local acknowledged = 0
for i = 3, #ARGV do
  local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
  if pending.err then
    if string.sub(pending.err, 1, 7) == 'NOGROUP' then return acknowledged end
    return redis.error_reply(pending.err)
  end
  if #pending == 1 then
    acknowledged = acknowledged + redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
  end
end
return acknowledged
