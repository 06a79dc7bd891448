
local id, partitions, kind = unpack(redis.call('HMGET', KEYS[2], 'id', 'partitions', 'valueType'))
if not id or not partitions then return {3} end
if id ~= ARGV[1] and string.lower(id) ~= ARGV[2] then return {103} end

-- The retention of the topic at this moment; the defaults are those of TopicConfig.
local limits = {}
local options = redis.call('HMGET', KEYS[2], 'retentionTime', 'retentionBytes', 'messageBytes')
for i, name in ipairs({'retentionTime', 'retentionBytes', 'messageBytes'}) do
  local text = options[i] or ARGV[i == 3 and 10 or i + 4]
  limits[i] = string.match(text, '^%-?%d+$') and tonumber(text)
  if not limits[i] or limits[i] < (i == 3 and 1 or -1) then return {-2, name} end
end

local kind_is_new = not kind and ARGV[8] ~= ''
kind = kind or ARGV[8]
if kind == 'JSON' and ARGV[9] ~= '0' then return {87, tonumber(ARGV[9])} end

local ms, seq, last = 0, 0, '0-0'
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] end
  end
  ms, seq = string.match(last, '^(%d+)-(%d+)$')
  ms, seq = tonumber(ms), tonumber(seq)
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max_seq, max_ms = tonumber(ARGV[3]), tonumber(ARGV[4])
local answer, at = {0, kind, partitions}, 11
while at <= #ARGV do
  if now > ms then
    ms, seq = now, 0
  else
    seq = seq + 1
  end
  if seq > max_seq then
    ms, seq = ms + 1, 0
  end
  if ms > max_ms then return {-1, last} end
  answer[#answer + 1] = string.format('%.0f-%.0f', ms, seq)
  at = at + 1 + ARGV[at]
end

if kind_is_new then redis.call('HSET', KEYS[2], 'valueType', kind) end
local oldest = now - limits[1]
local cuts_by_age = ARGV[7] ~= '' and limits[1] ~= -1 and oldest > 0
at = 11
for i = 4, #answer do
  local words = {'XADD', KEYS[1]}
  if cuts_by_age and i == 4 then
    words[3], words[4], words[5] = 'MINID', ARGV[7], string.format('%.0f', oldest)
  end
  words[#words + 1] = answer[i]
  for j = at + 1, at + ARGV[at] do words[#words + 1] = ARGV[j] end
  redis.call(unpack(words))
  at = at + 1 + ARGV[at]
end
-- A log cannot hold 2^53 entries, and greater numbers are not exact.
local length = math.max(math.floor(limits[2] / limits[3]), 1)
if ARGV[7] ~= '' and limits[2] ~= -1 and length < 2 ^ 53 then
  redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[7], string.format('%.0f', length))
end
return answer
