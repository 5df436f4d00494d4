-- The whole audit log is read by time, by who did it, and by event: what was done with a row of the outbox
-- has no consumer.
create index audit_at on ${schema}.audit (at, id);
create index audit_actor on ${schema}.audit (actor, at, id);
drop index ${schema}.audit_event;
create index audit_event on ${schema}.audit (event_id, at, id);
