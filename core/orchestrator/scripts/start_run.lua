-- Starts a run: its graph and its counter appear together, or not at all when the run is there.
--
-- KEYS: ir, counter, applied.
-- ARGV: the graph's text, the number of tokens, the time to live in milliseconds, the operation that
-- the start stands for, empty when nothing has to remember it, and the member that remembers beside
-- it where the tokens go.
-- Answers 1 when it started the run, 0 when the run was there.
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if ARGV[4] ~= '' then
  redis.call('SADD', KEYS[3], ARGV[4], ARGV[5])
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
return 1
