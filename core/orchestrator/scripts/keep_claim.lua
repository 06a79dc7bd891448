-- Renews the claim of a consumer on a pending entry: sets its idle time to 0 without counting a
-- delivery. An entry that another consumer has claimed meanwhile stays with that consumer.
--
-- KEYS: the stream.
-- ARGV: the group, the consumer, the id of the entry.
-- Answers 1, or 0 if the entry is not pending for the consumer.
local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2])
if #own == 0 then return 0 end
redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'JUSTID')
return 1
