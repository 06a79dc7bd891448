
local forgotten = 0
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 0 then
    forgotten = forgotten + redis.call('LREM', KEYS[1], 0, ARGV[i - 1])
  end
end
return forgotten
