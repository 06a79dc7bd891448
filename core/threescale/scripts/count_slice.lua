
local slice = tonumber(ARGV[1])
local key = 1
if slice > 0 then
  if tonumber(redis.call('GET', KEYS[1]) or '0') >= slice then return 0 end
  key = 2
end
for i = 1, tonumber(ARGV[3]) do
  if redis.call('EXISTS', KEYS[key]) == 0 then return -i end
  key = key + 1
end
if slice > 0 then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
local failed
local word = 4
for i = key, #KEYS do
  local reply
  if ARGV[word + 1] == '' then reply = redis.pcall(ARGV[word], KEYS[i])
  else reply = redis.pcall(ARGV[word], KEYS[i], ARGV[word + 1]) end
  if type(reply) == 'table' and reply.err then failed = failed or reply end
  word = word + 2
end
return failed or 1
