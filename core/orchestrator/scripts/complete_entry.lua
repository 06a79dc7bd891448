-- Pushes the signal of an executed token and acknowledges the entry of its stream. An entry that
-- another consumer has claimed meanwhile stays with that consumer, which will push a signal.
--
-- KEYS: the stream, the list of signals.
-- ARGV: the group, the consumer, the id of the entry, the signal, 1 to delete the entry.
-- Answers 1, or 0 if the entry is not pending for the consumer: nothing changed.
local own = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2])
if #own == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('XACK', KEYS[1], ARGV[1], ARGV[3])
if ARGV[5] == '1' then redis.call('XDEL', KEYS[1], ARGV[3]) end
return 1
