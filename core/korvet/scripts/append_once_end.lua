end
local answer = append()
if answer[1] == 0 then
  redis.call('HSET', KEYS[3], part, cjson.encode(answer))
  redis.call('EXPIRE', KEYS[3], ttl)
end
return answer
