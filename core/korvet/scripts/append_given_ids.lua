-- Adds records with given ids to a partition of the topic: all of them, or none.
--
-- KEYS: the partition's stream, the hash of Keys::Metadata.
-- ARGV: the topic's id in both forms; 1 if the stream must exist; the sign of the trimming; the
-- least milliseconds to keep, or ''; the greatest length, or ''; then for each record its
-- milliseconds, its sequence, the number of its field names and values, and these.
-- Answers as append_records: {0, value type, partitions, id...}; {3} no topic, or no stream; {103}
-- another topic. An id that is not above the last one is the error of XADD.
local id, partitions, kind = unpack(redis.call('HMGET', KEYS[2], 'id', 'partitions', 'valueType'))
if not id or not partitions then return {3} end
if id ~= ARGV[1] and string.lower(id) ~= ARGV[2] then return {103} end

local ms, seq = 0, 0
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then ms, seq = string.match(info[i + 1], '^(%d+)-(%d+)$') end
  end
  ms, seq = tonumber(ms), tonumber(seq)
elseif ARGV[3] == '1' then
  return {3}
end
local at = 7
while at <= #ARGV do
  local next_ms, next_seq = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  if next_ms < ms or next_ms == ms and next_seq <= seq then
    return redis.error_reply(
      'ERR The ID specified in XADD is equal or smaller than the target stream top item')
  end
  ms, seq = next_ms, next_seq
  at = at + 3 + ARGV[at + 2]
end

local answer = {0, kind or '', partitions}
at = 7
while at <= #ARGV do
  local words = {'XADD', KEYS[1]}
  if ARGV[5] ~= '' then words[3], words[4], words[5] = 'MINID', ARGV[4], ARGV[5] end
  local entry = ARGV[at] .. '-' .. ARGV[at + 1]
  words[#words + 1] = entry
  for j = at + 3, at + 2 + ARGV[at + 2] do words[#words + 1] = ARGV[j] end
  redis.call(unpack(words))
  answer[#answer + 1] = entry
  at = at + 3 + ARGV[at + 2]
end
if ARGV[6] ~= '' then redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[4], ARGV[6]) end
return answer
