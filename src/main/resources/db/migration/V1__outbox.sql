-- The outbox and what the relay keeps beside it. See docs/relay.md.
--
-- The outbox is append-only. What has been published is known from the relay's checkpoints, never from
-- the rows. tx is declared before seq: a row takes its seq when its transaction already has its xid,
-- and the cursor rests on that. The identity keeps CACHE 1.

create table ${schema}.outbox (
  event_id     text not null default gen_random_uuid()::text,
  exchange     text not null default '',
  routing_key  text not null default '',
  type         text not null,
  key          text collate "C",
  payload      bytea not null,
  content_type text not null default 'application/json',
  headers      jsonb not null default '{}' check (jsonb_typeof(headers) = 'object'),
  properties   jsonb not null default '{}' check (jsonb_typeof(properties) = 'object'),
  tx           bigint not null default pg_current_xact_id()::text::bigint,
  seq          bigint generated always as identity (sequence name ${schema}.outbox_seq cache 1),
  slot         smallint not null
               default (((extract(epoch from clock_timestamp())::bigint / ${slotSeconds}) % 8)::smallint),
  lane         smallint generated always as
               (((coalesce(hashtextextended(key, 0), hashint8extended(seq, 0)) & 9223372036854775807)
                 % ${lanes})::smallint) stored,
  created_at   timestamptz not null default clock_timestamp()
) partition by list (slot);

create table ${schema}.outbox_0 partition of ${schema}.outbox for values in (0);
create table ${schema}.outbox_1 partition of ${schema}.outbox for values in (1);
create table ${schema}.outbox_2 partition of ${schema}.outbox for values in (2);
create table ${schema}.outbox_3 partition of ${schema}.outbox for values in (3);
create table ${schema}.outbox_4 partition of ${schema}.outbox for values in (4);
create table ${schema}.outbox_5 partition of ${schema}.outbox for values in (5);
create table ${schema}.outbox_6 partition of ${schema}.outbox for values in (6);
create table ${schema}.outbox_7 partition of ${schema}.outbox for values in (7);

create index outbox_lane_seq on ${schema}.outbox (lane, seq);
-- For the rows of long transactions, read once when they have ended.
create index outbox_tx on ${schema}.outbox using brin (tx) with (pages_per_range = 16, autosummarize = on);

-- How the table was laid: the configuration must agree with it.
create table ${schema}.relay_layout (
  one               boolean primary key default true check (one),
  lanes             smallint not null,
  slots             smallint not null,
  slot_seconds      bigint not null,
  -- Snapshots mean something in one cluster only.
  system_identifier bigint not null
);
insert into ${schema}.relay_layout (lanes, slots, slot_seconds, system_identifier)
select ${lanes}, 8, ${slotSeconds}, system_identifier from pg_control_system();

-- Emptied by crash recovery and on a promoted replica: a relay that finds another life than it knew
-- forgets what it has in memory, for transaction ids may have been given out again.
create unlogged table ${schema}.relay_life (
  one  boolean primary key default true check (one),
  life text not null default gen_random_uuid()::text
);

create table ${schema}.relay_instances (
  instance   text primary key,
  started_at timestamptz not null default clock_timestamp(),
  alive_until timestamptz not null
) with (fillfactor = 50);

-- One row a lane: its owner's lease, and what the owner last reported of it.
create table ${schema}.relay_leases (
  lane                  smallint primary key,
  owner                 text,
  lease_until           timestamptz,
  fence                 bigint not null default 0,
  position              bigint not null default 0,
  oldest_unpublished_at timestamptz,
  lag_cause             text not null default 'none',
  lag_detail            text,
  parked                bigint not null default 0,
  reported_at           timestamptz
) with (fillfactor = 20);
insert into ${schema}.relay_leases (lane) select generate_series(0, ${lanes} - 1);

-- Appended, never updated. cur, next_floor and position speak of the batch that is being published: its
-- rows up to position are settled. Without cur everything visible in last is.
create table ${schema}.relay_checkpoints (
  lane       smallint not null,
  fence      bigint not null,
  n          bigint not null,
  last       pg_snapshot not null,
  floor      bigint not null,
  -- Of each transaction that last lists as running, in its order: its rows lie above.
  floors     bigint[] not null,
  cur        pg_snapshot,
  next_floor bigint,
  position   bigint not null,
  at         timestamptz not null default clock_timestamp(),
  primary key (lane, n)
);
-- The first state. No transaction with rows can have ended before this snapshot: the table is not there
-- for others until this migration commits.
insert into ${schema}.relay_checkpoints (lane, fence, n, last, floor, floors, position)
select lane, 0, 0, s, 0, array(select 0::bigint from pg_snapshot_xip(s)), 0
from ${schema}.relay_leases, pg_current_snapshot() s;

-- Whole messages that the broker refused, or that wait behind one of their key.
create table ${schema}.parked_rows (
  lane            smallint not null,
  seq             bigint not null,
  tx              bigint not null,
  event_id        text not null,
  exchange        text not null,
  routing_key     text not null,
  type            text not null,
  key             text collate "C",
  payload         bytea not null,
  content_type    text not null,
  headers         jsonb not null,
  properties      jsonb not null,
  created_at      timestamptz not null,
  reason          text not null,
  detail          text,
  attempts        integer not null default 0,
  next_attempt_at timestamptz,
  parked_at       timestamptz not null default clock_timestamp(),
  primary key (lane, seq)
);
-- By hash: a key may be longer than a tree takes, and parking must not fail for it.
create index parked_rows_key on ${schema}.parked_rows using hash (key);
-- Only the first row of a key, or one without a key, has a time for its next attempt.
create index parked_rows_due on ${schema}.parked_rows (lane, next_attempt_at)
  where next_attempt_at is not null;

-- What operators ask of parked rows; the lane's owner carries it out.
create table ${schema}.parked_requests (
  id           bigint generated always as identity primary key,
  lane         smallint not null,
  seq          bigint not null,
  action       text not null check (action in ('retry', 'skip', 'redirect')),
  exchange     text,
  routing_key  text,
  operator     text not null,
  requested_at timestamptz not null default clock_timestamp(),
  done_at      timestamptz,
  outcome      text
);
create index parked_requests_open on ${schema}.parked_requests (lane, id) where done_at is null;

create table ${schema}.scheduled (
  id           bigint generated always as identity primary key,
  due_at       timestamptz not null check (isfinite(due_at)),
  event_id     text not null,
  exchange     text not null,
  routing_key  text not null,
  type         text not null,
  key          text collate "C",
  payload      bytea not null,
  content_type text not null,
  -- As in the outbox: one row that it refused would hold up all that are due after it.
  headers      jsonb not null check (jsonb_typeof(headers) = 'object'),
  properties   jsonb not null check (jsonb_typeof(properties) = 'object'),
  created_at   timestamptz not null default clock_timestamp()
);
create index scheduled_due on ${schema}.scheduled (due_at, id);

-- The doorbell. Sequences, for they are seen at once by everyone and leave no dead rows: a relay that
-- goes to sleep takes a number of the first; the second is the last number that was rung for.
create sequence ${schema}.relay_asleep minvalue 0 start 0;
create sequence ${schema}.relay_rung minvalue 0 start 0;

create function ${schema}.relay_ring() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  asleep bigint;
  rung bigint;
begin
  -- A transaction that has notified cannot be prepared: where two-phase commit is possible, polls do.
  if current_setting('max_prepared_transactions') = '0' then
    select a.last_value, r.last_value into asleep, rung from ${schema}.relay_asleep a, ${schema}.relay_rung r;
    if asleep > rung then
      perform pg_notify(tg_table_schema || '_outbox', asleep::text);
    end if;
  end if;
  return null;
end $$;
create trigger outbox_ring after insert on ${schema}.outbox
for each statement execute function ${schema}.relay_ring();

-- Every message but those of plain inserts comes in here; deliver_at in the future puts it aside first.
create function ${schema}.publish(
  payload_bytes bytea, exchange text, routing_key text, type text, key text, headers jsonb,
  event_id text, deliver_at timestamptz, content_type text, properties jsonb) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  id text := coalesce(event_id, gen_random_uuid()::text);
begin
  if deliver_at > clock_timestamp() then
    insert into ${schema}.scheduled
      (due_at, event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
    values (deliver_at, id, coalesce(exchange, ''), coalesce(routing_key, ''), type, key, payload_bytes,
      coalesce(content_type, 'application/json'), coalesce(headers, '{}'), coalesce(properties, '{}'));
  else
    insert into ${schema}.outbox
      (event_id, exchange, routing_key, type, key, payload, content_type, headers, properties)
    values (id, coalesce(exchange, ''), coalesce(routing_key, ''), type, key, payload_bytes,
      coalesce(content_type, 'application/json'), coalesce(headers, '{}'), coalesce(properties, '{}'));
  end if;
  return id;
end $$;

create function ${schema}.publish(
  exchange text, routing_key text, type text, payload jsonb, key text default null, headers jsonb default '{}',
  event_id text default null, deliver_at timestamptz default null,
  content_type text default 'application/json', properties jsonb default '{}') returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select ${schema}.publish(
    payload_bytes => convert_to(payload::text, 'UTF8'), exchange => exchange, routing_key => routing_key,
    type => type, key => key, headers => headers, event_id => event_id, deliver_at => deliver_at,
    content_type => content_type, properties => properties)
$$;

-- For applications that write the columns of other relays: aggregatetype is the exchange, type is also
-- the routing key, aggregateid the ordering key. To insert into only.
create view ${schema}.outbox_events as
select null::text as id, null::text as aggregatetype, null::text as aggregateid, null::text as type,
  null::text as payload
where false;
alter view ${schema}.outbox_events alter column id set default gen_random_uuid()::text;

create function ${schema}.outbox_events_insert() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ${schema}.outbox (event_id, exchange, routing_key, type, key, payload)
  values (new.id, coalesce(new.aggregatetype, ''), coalesce(new.type, ''), new.type, new.aggregateid,
    convert_to(coalesce(new.payload, ''), 'UTF8'));
  return new;
end $$;
create trigger outbox_events_insert instead of insert on ${schema}.outbox_events
for each row execute function ${schema}.outbox_events_insert();

create view ${schema}.relay_lanes as
select l.lane,
  case when l.lease_until > now() then l.owner end as owner,
  l.lease_until,
  l.fence,
  l.position,
  greatest(0, case when s.is_called then s.last_value else 0 end - l.position) / y.lanes as backlog,
  case when l.lease_until > now() then l.oldest_unpublished_at
    else least(
      (select o.created_at from ${schema}.outbox o
        where o.lane = l.lane and o.seq > l.position order by o.seq limit 1),
      (select p.created_at from ${schema}.parked_rows p where p.lane = l.lane order by p.seq limit 1))
  end as oldest_unpublished_at,
  case when l.lease_until > now() then l.lag_cause else 'no_owner' end as lag_cause,
  case when l.lease_until > now() then l.lag_detail end as lag_detail,
  l.parked,
  l.reported_at
from ${schema}.relay_leases l, ${schema}.outbox_seq s, ${schema}.relay_layout y;

create view ${schema}.parked as
select lane, seq, event_id, key, exchange, routing_key, reason, attempts, next_attempt_at, parked_at,
  type, detail
from ${schema}.parked_rows;

revoke all on all functions in schema ${schema} from public;
