-- Takes a lease that is free, or renews that of the same holder.
--
-- KEYS: the lease.
-- ARGV: the holder, the time to live in milliseconds.
-- Answers 1 when the holder has the lease, 0 when another one has it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
