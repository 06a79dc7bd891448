-- What a script sees of its world: the globals, the fields of the libraries, and whether the functions work.
local out = {}
local function list(name, t)
  local names = {}
  for k, v in pairs(t) do
    -- Redis keeps the handler of errors among the globals.
    if k ~= '__redis__err__handler' then names[#names + 1] = tostring(k) .. ':' .. type(v) end
  end
  table.sort(names)
  out[#out + 1] = name .. ' ' .. table.concat(names, ' ')
end
list('_G', _G)
for _, name in ipairs({'redis', 'cjson', 'cmsgpack', 'bit', 'struct', 'string', 'math', 'table', 'os', 'coroutine'}) do
  local lib = rawget(_G, name)
  if type(lib) == 'table' then list(name, lib) else out[#out + 1] = name .. ' ' .. type(lib) end
end
local function works(name, f)
  local ok, v = pcall(f)
  out[#out + 1] = name .. ' ' .. tostring(ok) .. ' ' .. tostring(v)
end
works('call', function() return redis.call('ECHO', 'x') end)
works('json', function() return cjson.encode(cjson.decode('[1,{"a":null}]')) end)
works('pack', function() return cmsgpack.unpack(cmsgpack.pack({1}))[1] end)
works('bit', function() return bit.tohex(bit.band(255, 16)) end)
works('struct', function() return struct.unpack('>i4', struct.pack('>i4', 7)) end)
works('string', function() return ('a'):upper() .. ('%d'):format(7) .. #('x'):rep(3) end)
works('math', function() return math.floor(2.5) .. math.max(1, 2) end)
works('table', function() local t = {3, 1, 2} table.sort(t) return table.concat(t, ',') end)
works('basic', function() return tostring(1) .. tonumber('2') .. type({}) .. select(2, 'a', 'b') .. unpack({4}) end)
works('concat', function() return 'a' + 1 end)
works('leak', function() return leak end)
works('global', function() new_global = 1 end)
works('rawset', function() rawset(_G, 'new_global', 1) end)
works('metatable', function() getmetatable('').__index = nil end)
return out
