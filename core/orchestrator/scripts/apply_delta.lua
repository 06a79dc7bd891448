-- Keys: applied_set, counter_key
-- Args: op_key, delta

local applied_set = KEYS[1]
local counter_key = KEYS[2]
local op_key = ARGV[1]
local delta = tonumber(ARGV[2])

-- Check if already applied
if redis.call('SISMEMBER', applied_set, op_key) == 1 then
    return 0  -- Already applied (idempotent)
end

-- Add to applied set
redis.call('SADD', applied_set, op_key)

-- Update counter
local new_value = redis.call('INCRBY', counter_key, delta)

return new_value
