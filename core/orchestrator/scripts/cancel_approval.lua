-- Cancels an approval whose run is gone, if it is still pending.
--
-- KEYS: approval, counter of its run.
-- ARGV: the time.
-- Answers 1 when it cancelled the approval, 0 otherwise.
if redis.call('HGET', KEYS[1], 'status') ~= 'pending' then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'status', 'cancelled', 'decided_at', ARGV[1])
return 1
