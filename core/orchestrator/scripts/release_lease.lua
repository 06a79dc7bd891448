-- Gives a lease back.
--
-- KEYS: the lease.
-- ARGV: the holder.
-- Answers 1 when the holder had the lease, 0 otherwise.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
