-- The worker's half: activities, attempts, receipts, dead letters, audit.
--
-- One row per (consumer, event). The newest attempt and the receipt stand in the row itself, so that
-- a plain success is one insert and one update; history is appended to attempt and receipt only when
-- a new start, owner or generation supersedes it. The views below read both as one. The audit log is
-- the relay's, too: operators act on parked rows.

create sequence ${schema}.activity_arrival;

create table ${schema}.activity (
  consumer            text collate "C" not null,
  event_id            text collate "C" not null,
  type                text,
  kind                text,
  state               text not null check (state in ('running', 'retry_scheduled', 'blocked', 'completed', 'dead',
                        'manual_review', 'unresolved')),
  generation          integer not null default 1,
  attempts            integer not null default 0,
  retries             integer not null default 0,
  redeliveries        integer not null default 0,
  max_retries         integer,
  max_attempts        integer,
  granted             integer,                 -- this start is allowed by an operator, whatever the limit
  suspect             boolean not null default false, -- a start of this generation ended with its process
  keep                boolean not null default false, -- taken over, reviewed or dead-lettered: never purged
  awaiting_message    boolean not null default false,
  pending_reason      text,                    -- the dead letter to be written once the message is here
  fence               bigint not null default 0,
  batch               bigint,                  -- its claim's time (microseconds × 1024); running or purgeable rows
  owner               text,                    -- of the lease; of the newest attempt once that has ended
  lease_until         timestamptz,
  next_attempt_at     timestamptz,             -- set only while it is due at that time
  first_seen_at       timestamptz not null default now(),
  finished_at         timestamptz,
  -- the newest attempt, while attempt_fence is set
  attempt_fence       bigint,
  started_at          timestamptz,             -- of the last start, kept when that attempt is appended
  ended_at            timestamptz,
  attempt_redelivered boolean,
  outcome             text,
  error_class         text,
  error_message       text,
  phase               text,
  progress_seq        bigint,
  progress_at         timestamptz,
  -- the receipt of this generation
  receipt_outcome     text,
  receipt_fence       bigint,
  receipt_at          timestamptz,
  receipt_body        text,
  -- order by key
  ordering_key        text collate "C",
  arrival             bigint,
  -- the message, where the row must be able to run without the broker
  exchange            text,
  routing_key         text,
  headers             jsonb,
  properties          jsonb,
  body                bytea,
  -- what indexes look for: null on the way of a plain success, so that its update stays on its page
  waits               text generated always as (
                        case when state in ('blocked', 'manual_review', 'unresolved') then state end) stored,
  live_key            text collate "C" generated always as (
                        case when state not in ('completed', 'dead') then ordering_key end) stored,
  primary key (consumer, event_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);

comment on table ${schema}.activity is 'Internal: read the views activities, attempts and receipts.';

-- No index names a column that a plain success changes: claim and completion are one insert into the
-- table and two indexes, and one update in place (heap-only). The batch leads the sweep to running
-- rows (through claim_batch) and the purge to old ones.
create index activity_batch on ${schema}.activity (consumer, batch) where batch is not null;
create index activity_due on ${schema}.activity (consumer, type, next_attempt_at) where next_attempt_at is not null;
create index activity_next on ${schema}.activity (next_attempt_at) where next_attempt_at is not null;
create index activity_waits on ${schema}.activity (waits, consumer, first_seen_at) where waits is not null;
create index activity_key on ${schema}.activity (consumer, live_key, arrival) where live_key is not null;
create index activity_awaiting on ${schema}.activity (consumer, event_id) where awaiting_message;

-- A claimed group that may still have running rows. Gone once all of them have been settled; what a
-- dead process leaves here is found when its lease expires.
create table ${schema}.claim_batch (
  consumer text collate "C" not null,
  batch    bigint not null,
  owner    text not null,
  until    timestamptz not null,
  primary key (consumer, batch, owner)
) with (fillfactor = 50);

create index claim_batch_until on ${schema}.claim_batch (consumer, until);

create table ${schema}.attempt (
  consumer      text collate "C" not null,
  event_id      text collate "C" not null,
  generation    integer not null,
  fence         bigint not null,
  worker        text,
  started_at    timestamptz not null,
  ended_at      timestamptz,
  outcome       text,
  error_class   text,
  error_message text,
  redelivered   boolean not null default false,
  phase         text,
  progress_seq  bigint,
  primary key (consumer, event_id, fence)
);

create table ${schema}.receipt (
  consumer    text collate "C" not null,
  event_id    text collate "C" not null,
  generation  integer not null,
  outcome     text not null check (outcome in ('succeeded', 'failed_permanent')),
  body        text,
  fence       bigint not null,
  recorded_at timestamptz not null,
  primary key (consumer, event_id, generation)
);

create table ${schema}.dead_letter (
  id            bigint generated always as identity primary key,
  consumer      text collate "C" not null,
  event_id      text collate "C" not null,
  generation    integer not null,
  type          text,
  reason        text not null check (reason in ('poison_message', 'permanent_failure', 'retries_exhausted')),
  attempts      integer not null,
  error_class   text,
  error_message text,
  error_cause   text,
  exchange      text,
  routing_key   text,
  headers       jsonb,
  properties    jsonb,
  body          bytea,
  dead_at       timestamptz not null default now(),
  state         text not null default 'open' check (state in ('open', 'redriven', 'discarded')),
  unique (consumer, event_id, generation)
);

create index dead_letter_open on ${schema}.dead_letter (consumer, id) where state = 'open';
create index dead_letter_at on ${schema}.dead_letter (dead_at);

create table ${schema}.audit (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  actor      text not null,
  action     text not null,
  consumer   text collate "C",
  event_id   text collate "C",
  generation integer,
  fence      bigint,
  evidence   text,
  detail     text
);

create index audit_event on ${schema}.audit (consumer, event_id, id);

create function ${schema}.audit_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;

create trigger audit_append_only before update or delete or truncate on ${schema}.audit
  for each statement execute function ${schema}.audit_is_append_only();

-- Starts per second of the types that have a retry budget, of the whole fleet; rows live for a minute.
create table ${schema}.start_window (
  consumer     text collate "C" not null,
  type         text not null,
  second       bigint not null,
  first_starts bigint not null,
  retries      bigint not null,
  primary key (consumer, type, second)
) with (fillfactor = 50);

create view ${schema}.activities as
select consumer, event_id, type, kind, state, attempts, retries, redeliveries, max_retries, fence,
       case when state = 'running' then owner end as lease_owner,
       case when state = 'running' then lease_until end as lease_until,
       next_attempt_at, phase, progress_seq, progress_at, awaiting_message, first_seen_at, finished_at, generation,
       max_attempts, ordering_key, started_at, suspect, body is not null as has_body
from ${schema}.activity;

create view ${schema}.attempts as
select consumer, event_id, generation, fence, worker, started_at, ended_at, outcome, error_class, error_message,
       redelivered, phase, progress_seq
from ${schema}.attempt
union all
select consumer, event_id, generation, attempt_fence, owner, started_at, ended_at, outcome, error_class,
       error_message, coalesce(attempt_redelivered, false), phase, progress_seq
from ${schema}.activity
where attempt_fence is not null;

create view ${schema}.receipts as
select consumer, event_id, generation, outcome, body, fence, recorded_at
from ${schema}.receipt
union all
select consumer, event_id, generation, receipt_outcome, receipt_body, receipt_fence, receipt_at
from ${schema}.activity
where receipt_outcome is not null;

create view ${schema}.dead_letters as
select id, consumer, event_id, generation, type, reason, attempts, error_class, error_message, error_cause,
       exchange, routing_key, headers, properties, body, dead_at, state
from ${schema}.dead_letter;

create view ${schema}.audit_log as
select at, actor, action, consumer, event_id, generation, fence, evidence, detail, id
from ${schema}.audit;
