-- What an owner renews and reports every few seconds, apart from who it is. Owner and fence are looked at
-- with every mark: where a session holds back vacuum, all former versions of their row would be looked at too.
-- In one statement, so that nothing is renewed between the copy and the end of the old columns.
do $$ begin
lock table ${schema}.relay_leases in access exclusive mode;

create table ${schema}.relay_reports (
  lane                  smallint primary key,
  lease_until           timestamptz,
  position              bigint not null default 0,
  oldest_unpublished_at timestamptz,
  lag_cause             text not null default 'none',
  lag_detail            text,
  parked                bigint not null default 0,
  reported_at           timestamptz
) with (fillfactor = 20);
insert into ${schema}.relay_reports
select lane, lease_until, position, oldest_unpublished_at, lag_cause, lag_detail, parked, reported_at
from ${schema}.relay_leases;

-- The backlog is an estimate, but where something waits it is not none.
create or replace view ${schema}.relay_lanes as
select l.lane,
  case when r.lease_until > now() then l.owner end as owner,
  r.lease_until,
  l.fence,
  r.position,
  greatest(case when w.oldest is null then 0 else 1 end,
    (case when s.is_called then s.last_value else 0 end - r.position) / y.lanes) as backlog,
  w.oldest as oldest_unpublished_at,
  case when r.lease_until > now() then r.lag_cause else 'no_owner' end as lag_cause,
  case when r.lease_until > now() then r.lag_detail end as lag_detail,
  r.parked,
  r.reported_at
from ${schema}.relay_leases l join ${schema}.relay_reports r on r.lane = l.lane
  cross join ${schema}.outbox_seq s cross join ${schema}.relay_layout y
  cross join lateral (select case when r.lease_until > now() then r.oldest_unpublished_at
    else least(
      (select o.created_at from ${schema}.outbox o
        where o.lane = l.lane and o.seq > r.position order by o.seq limit 1),
      (select p.created_at from ${schema}.parked_rows p where p.lane = l.lane order by p.seq limit 1))
    end as oldest) w;

alter table ${schema}.relay_leases
  drop column lease_until, drop column position, drop column oldest_unpublished_at, drop column lag_cause,
  drop column lag_detail, drop column parked, drop column reported_at;
end $$;
