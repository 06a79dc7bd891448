local mode, caller, call = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'epoch', 'assignor', 'time')
local epoch, assignor, before_now = tonumber(state[1] or '0'), state[2], tonumber(state[3] or '0')
if not epoch or not before_now then return {-1, 'epoch or time'} end
-- The deadlines follow a clock that was set back.
local back = math.max(before_now - now, 0)

-- A member is "deadline session call topic=partitions topic=partitions".
local members, expired = {}, {}
local fields = redis.call('HGETALL', KEYS[2])
for i = 1, #fields, 2 do
  local deadline, session, last, topics = string.match(fields[i + 1], '^(%d+) (%d+) (%d+)(.*)$')
  if not deadline then return {-1, fields[i]} end
  deadline = deadline - back
  if deadline > now then
    members[fields[i]] = {deadline = deadline, session = session, call = last, topics = topics}
  else
    expired[#expired + 1] = fields[i]
  end
end

-- A partition is "owner target"; a "-" stands for no member.
local places, owner, target, written = {}, {}, {}, {}
fields = redis.call('HGETALL', KEYS[3])
for i = 1, #fields, 2 do
  local place = fields[i]
  places[#places + 1] = place
  owner[place], target[place] = string.match(fields[i + 1], '^(%S+) (%S+)$')
  if not owner[place] then return {-1, place} end
  written[place] = fields[i + 1]
  if not members[owner[place]] then owner[place] = '-' end
end

local known = members[caller]
if known and call <= tonumber(known.call) then return {22} end
if next(members) == nil then assignor = nil end
assignor = assignor or ARGV[5]
if assignor ~= ARGV[5] and (known or mode == 'join') then return {23} end

-- From here on, the script writes.
local changed = #expired > 0
local function save(name)
  local member = members[name]
  redis.call('HSET', KEYS[2], name, string.format('%.0f ', member.deadline) .. member.session ..
      ' ' .. member.call .. member.topics)
end
if back > 0 then
  for name in pairs(members) do save(name) end
end
if mode == 'leave' then
  changed = changed or known
  members[caller] = nil
  if known then expired[#expired + 1] = caller end
elseif known or mode == 'join' then
  changed = changed or not known or known.topics ~= ARGV[6]
  members[caller] = {deadline = now + ARGV[4], session = ARGV[4], call = ARGV[3], topics = ARGV[6]}
  save(caller)
end
-- Deletions come last, and only of fields that exist: in a slot that migrates, a script cannot
-- access a key that it has deleted.
for _, name in ipairs(expired) do redis.call('HDEL', KEYS[2], name) end

local function assign()
  local names, topics, readers, count = {}, {}, {}, {}
  for name in pairs(members) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    for topic, partitions in string.gmatch(members[name].topics, '(%S+)=(%d+)') do
      if not readers[topic] then
        readers[topic], count[topic] = {}, 0
        topics[#topics + 1] = topic
      end
      table.insert(readers[topic], name)
      readers[topic][name] = true
      count[topic] = math.max(count[topic], tonumber(partitions))
    end
  end
  table.sort(topics)

  local before, known_places, load, at, place_readers = target, places, {}, 0, {}
  target, places = {}, {}
  for _, name in ipairs(names) do load[name] = 0 end
  local function give(place, name)
    target[place] = name
    load[name] = load[name] + 1
  end
  for _, topic in ipairs(topics) do
    local given, n = readers[topic], count[topic]
    local share, rest, used, turn = math.floor(n / #given), n % #given, 0, 1
    for partition = 0, n - 1 do
      local place = topic .. ':' .. partition
      places[#places + 1] = place
      place_readers[place] = given
      owner[place] = owner[place] or '-'
      if assignor == 'range' then
        while used == share + (turn <= rest and 1 or 0) do turn, used = turn + 1, 0 end
        used = used + 1
        give(place, given[turn])
      elseif assignor == 'roundrobin' then
        repeat at = at % #names + 1 until given[names[at]]
        give(place, names[at])
      elseif before[place] and given[before[place]] then
        give(place, before[place])
      end
    end
  end
  -- Cooperative and sticky: a partition moves only if that makes the loads more equal.
  local moved = assignor == 'cooperative-sticky'
  while moved do
    moved = false
    for i = #places, 1, -1 do
      local place, current, least = places[i], target[places[i]], nil
      for _, name in ipairs(place_readers[place]) do
        if not least or load[name] < load[least] then least = name end
      end
      if not current or load[current] - load[least] > 1 then
        if current then load[current] = load[current] - 1 end
        give(place, least)
        moved = true
      end
    end
  end
  for _, place in ipairs(known_places) do
    if not target[place] then
      places[#places + 1] = place
      target[place] = '-'
    end
  end
end
if changed then
  epoch = epoch + 1
  assign()
end

local held, answer, waiting, unused = {}, {}, 0, {}
for place in string.gmatch(ARGV[7], '%S+') do held[place] = true end
for _, place in ipairs(places) do
  if owner[place] == caller and target[place] ~= caller and not held[place] then owner[place] = '-' end
  if target[place] == caller then
    if owner[place] == '-' then owner[place] = caller end
    if owner[place] == caller then answer[#answer + 1] = place else waiting = 1 end
  end
  local text = owner[place] .. ' ' .. target[place]
  if text == '- -' then
    if written[place] then unused[#unused + 1] = place end
  elseif text ~= written[place] then
    redis.call('HSET', KEYS[3], place, text)
  end
end
for _, place in ipairs(unused) do redis.call('HDEL', KEYS[3], place) end
redis.call('HSET', KEYS[1], 'epoch', epoch, 'assignor', assignor, 'time', string.format('%.0f', now))
if mode == 'leave' then return {known and 0 or 25} end
if not members[caller] then return {25} end
local reply = {0, epoch, waiting}
for _, place in ipairs(answer) do reply[#reply + 1] = place end
return reply
