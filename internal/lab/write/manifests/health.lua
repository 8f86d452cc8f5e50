-- As kstatus reads it: the newest spec must have been observed, Stalled is
-- a failure for good, and only Ready makes healthy.
local health = {status = "Progressing", message = "waiting for the newest spec to be observed"}
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "being deleted"
  return health
end
local status = obj.status or {}
if status.observedGeneration == nil or status.observedGeneration < obj.metadata.generation then
  return health
end
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local stalled, ready = conditions["Stalled"], conditions["Ready"]
if stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
  health.message = stalled.message
elseif ready ~= nil then
  if ready.status == "True" then
    health.status = "Healthy"
  end
  health.message = ready.message
end
return health
