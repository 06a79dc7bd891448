
local function sum(a, b)
  local digits, carry = {}, 0
  for i = 0, math.max(#a, #b) - 1 do
    local digit = carry
    if i < #a then digit = digit + string.byte(a, #a - i) - 48 end
    if i < #b then digit = digit + string.byte(b, #b - i) - 48 end
    carry = digit > 9 and 1 or 0
    digits[i + 1] = digit - 10 * carry
  end
  if carry == 1 then digits[#digits + 1] = 1 end
  return string.reverse(table.concat(digits))
end
local function above(a, b)
  a, b = string.match(a, '^0*(.*)$'), string.match(b, '^0*(.*)$')
  if #a ~= #b then return #a > #b end
  return a > b
end
local function exceeds(before, effect, amount, most)
  local sign, digits = string.match(before, '^%s*([-+]?)(%d*)')
  if sign == '-' or string.sub(most, 1, 1) == '-' then
    local value = tonumber(sign .. digits) or 0
    if effect == 'add' then value = value + amount
    elseif effect ~= 'keep' then value = tonumber(amount) end
    return value > tonumber(most)
  end
  if effect == 'add' then digits = sum(digits, amount)
  elseif effect ~= 'keep' then digits = amount end
  return above(digits, most)
end
local limits = tonumber(ARGV[1])
local reply = {1}
local at = 2
for i = 1, limits do
  local before = redis.call('GET', KEYS[i]) or '0'
  reply[i + 1] = before
  if exceeds(before, ARGV[at], ARGV[at + 1], ARGV[at + 2]) then reply[1] = 0 end
  at = at + 3
end
if reply[1] == 0 then return reply end
local minute_ttl = ARGV[at]
at = at + 1
local last = limits + (#ARGV - at + 1) / 3
if #KEYS > last and redis.call('EXISTS', KEYS[#KEYS]) == 0 then
  reply[1] = -1
  return reply
end
for i = limits + 1, last do
  local effect, amount, expires = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if effect == 'add' then redis.call('INCRBY', KEYS[i], amount)
  elseif amount == '0' then redis.call('DEL', KEYS[i])
  else redis.call('SET', KEYS[i], amount) end
  if expires == '1' and not (effect == 'set' and amount == '0') then
    redis.call('EXPIRE', KEYS[i], minute_ttl)
  end
  at = at + 3
end
return reply
