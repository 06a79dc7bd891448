-- Decides a pending approval; the first decision wins and gives the run its token back.
--
-- KEYS: counter, applied, pending approvals, approval.
-- ARGV: the approval's member, the new status, the time of the decision, the resuming operation,
-- then further fields of the approval and their values (optional).
-- Answers {1, new} decided, {0, -1} the approval is not pending or unknown, {-1, -1} the run is
-- gone.
if redis.call('HGET', KEYS[4], 'status') ~= 'pending' then return {0, -1} end
if not redis.call('GET', KEYS[1]) then return {-1, -1} end
-- Types that do not fit fail here, before anything is written.
redis.call('SCARD', KEYS[2])
redis.call('SCARD', KEYS[3])

local new = redis.call('INCRBY', KEYS[1], 1)
redis.call('HSET', KEYS[4], 'status', ARGV[2], 'decided_at', ARGV[3])
for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1]) end
redis.call('SADD', KEYS[2], ARGV[4])
redis.call('SREM', KEYS[3], ARGV[1])
return {1, new}
