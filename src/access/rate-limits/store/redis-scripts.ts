import { SLOTS_PER_WINDOW } from './rate-limit-store.js';

/**
 * One Redis list per key, oldest entry first: `<sum>:<count>:<newest>`, where `newest` is the time (µs) of the last of its
 * `count` requests and `sum` is the number of requests in all entries up to and including this one since the list was created. So
 * the two ends of the list give the number in the window. Integers above 10^14 need `%.0f`.
 */
const ENTRIES = `
local key = KEYS[1]
local function read(index)
  local entry = redis.call('LINDEX', key, index)
  if not entry then return nil, nil, nil end
  local sum, count, newest = string.match(entry, '^(%d+):(%d+):(%d+)$')
  return tonumber(sum), tonumber(count), tonumber(newest)
end
local function entry(sum, count, newest)
  return string.format('%.0f:%.0f:%.0f', sum, count, newest)
end
local function clock()
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  -- Redis goes by the date, which may be set back: nothing that was counted is newer than now.
  local index = -1
  local sum, count, newest = read(index)
  while newest and newest > now do
    redis.call('LSET', key, index, entry(sum, count, now))
    index = index - 1
    sum, count, newest = read(index)
  end
  return now
end
`;

/** KEYS: the list. ARGV: limit, window (ms). Returns allowed (0 or 1), remaining, wait (ms). */
export const CONSUME = `${ENTRIES}
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2]) * 1000
local now = clock()

local firstSum, firstCount, firstNewest = read(0)
while firstNewest and firstNewest <= now - window do
  redis.call('LPOP', key)
  firstSum, firstCount, firstNewest = read(0)
end
local lastSum, lastCount, lastNewest = read(-1)
local total = 0
if lastSum then total = lastSum - firstSum + firstCount end

if total >= limit then
  local index, left, newest = 0, total - firstCount, firstNewest
  while left >= limit do
    index = index + 1
    local _, count, time = read(index)
    left, newest = left - count, time
  end
  return {0, 0, math.ceil((newest + window - now) / 1000)}
end

local slot = window / ${SLOTS_PER_WINDOW}
local together = lastSum and redis.call('LLEN', key) >= ${SLOTS_PER_WINDOW}
  and math.floor(lastNewest / slot) == math.floor(now / slot)
if together then
  redis.call('LSET', key, -1, entry(lastSum + 1, lastCount + 1, now))
else
  redis.call('RPUSH', key, entry((lastSum or 0) + 1, 1, now))
end
-- A second more than needed, since a key expires by a coarser clock and must not go before its last request.
redis.call('PEXPIRE', key, string.format('%.0f', window / 1000 + 1000))
return {1, limit - total - 1, 0}
`;

/** KEYS: the list. ARGV: window (ms). Returns the number of requests in the window. */
export const USED = `${ENTRIES}
local window = tonumber(ARGV[1]) * 1000
local now = clock()
local index = 0
local sum, count, newest = read(index)
while newest and newest <= now - window do
  index = index + 1
  sum, count, newest = read(index)
end
if not sum then return 0 end
local lastSum = read(-1)
return lastSum - sum + count
`;

/** KEYS: the list. ARGV: window (ms). */
export const GIVE_BACK = `${ENTRIES}
local window = tonumber(ARGV[1]) * 1000
local now = clock()
local sum, count, newest = read(-1)
if not sum then return 0 end
if newest <= now - window then
  redis.call('DEL', key)
elseif count > 1 then
  redis.call('LSET', key, -1, entry(sum - 1, count - 1, newest))
else
  redis.call('RPOP', key)
end
return 1
`;
