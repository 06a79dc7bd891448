
local function number(text)
  if not text then return 0 end
  local sign, body = string.match(string.lower(text), '^([+-]?)(.*)$')
  local value = 0
  if body == 'inf' or body == 'infinity' then
    value = math.huge
  elseif body == 'nan' then
    value = 0 / 0
  else
    local mantissa = string.match(body, '^([%d.]+)$') or string.match(body, '^([%d.]+)e[+-]?%d+$')
    if mantissa and (string.find(mantissa, '^%d+%.?%d*$') or string.find(mantissa, '^%.%d+$')) then
      value = tonumber(body)
    end
  end
  if sign == '-' then return -value end
  return value
end

local function reached(spend, limit)
  return limit ~= '' and number(spend) >= number(limit)
end

local daily = redis.call('GET', KEYS[1])
local monthly = redis.call('GET', KEYS[2])
if ARGV[8] ~= '1' and string.find((daily or '') .. (monthly or ''), '[\128-\255]') then
  return {-1, daily, monthly}
end
if reached(daily, ARGV[1]) or reached(monthly, ARGV[2]) then
  return {0, daily, monthly}
end
local failure
redis.call('SET', KEYS[3], ARGV[3], 'EX', ARGV[7])
for i = 1, 2 do
  local reply = redis.pcall('INCRBYFLOAT', KEYS[i], ARGV[4])
  if type(reply) == 'table' and reply.err then failure = failure or reply.err end
  redis.call('EXPIRE', KEYS[i], ARGV[4 + i])
end
if failure then return redis.error_reply(failure) end
return {1, daily, monthly}
