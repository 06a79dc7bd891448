local ttl = table.remove(ARGV)
local part = table.remove(ARGV)
local written = redis.call('HGET', KEYS[3], part)
if written then return cjson.decode(written) end
local function append()
