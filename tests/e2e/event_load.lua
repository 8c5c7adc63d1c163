-- Events of 300 bytes, BATCH in a request, each with an id of its own. The client shares the machine with the server, so
-- a request is put together by a single call: its number stands between parts that are made once.
local batch = tonumber(os.getenv("BATCH"))
local run = os.getenv("RUN")
local threads = 0
local count = 1000000
local headers = {["Host"] = "127.0.0.1"}
local parts = {}

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init()
  local front = '{"specversion":"1.0","source":"/load/' .. number .. '","type":"item","run":"' .. run .. '","subject":"s","id":"'
  local bytes = 300 - #front - #tostring(count)
  local open = batch > 1 and "[" or ""
  local close = batch > 1 and "]" or ""
  parts[1] = open .. front
  for at = 1, batch do
    local back = "-" .. at .. '","data":{"pad":"'
    back = back .. string.rep("x", bytes - #back - 3) .. '"}}'
    parts[at + 1] = back .. (at < batch and "," .. front or close)
  end
  headers["Content-Type"] = batch > 1 and "application/cloudevents-batch+json" or "application/cloudevents+json"
end

function request()
  count = count + 1
  return wrk.format("POST", "/events", headers, table.concat(parts, count))
end

function done(summary, latency)
  print(string.format('{"requests": %d, "seconds": %.3f, "p50_ms": %.2f, "p99_ms": %.2f, "max_ms": %.2f, "refused": %d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
