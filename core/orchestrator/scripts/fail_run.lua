-- Ends a run that has failed: deletes its keys and cancels the approvals it waits for.
--
-- KEYS: counter, applied, then all other keys of the run, its approvals last.
-- ARGV: the consuming operation of the token that failed, the number of approvals, the time.
-- Answers 1 when it ended the run, 0 when that token is consumed already, -1 when the run is gone.
if not redis.call('GET', KEYS[1]) then return -1 end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return 0 end
local approvals = tonumber(ARGV[2])
for i = 1, #KEYS do
  if i > #KEYS - approvals and redis.call('HGET', KEYS[i], 'status') == 'pending' then
    redis.call('HSET', KEYS[i], 'status', 'cancelled', 'decided_at', ARGV[3])
  else
    redis.call('DEL', KEYS[i])
  end
end
return 1
