-- Rows that have left parked_rows, published or skipped, while the newest checkpoint of their lane lay before
-- them: who reads from there passes over them. Forgotten once a checkpoint has passed them.
create table ${schema}.parked_gone (
  lane smallint not null,
  seq  bigint not null,
  tx   bigint not null,
  primary key (lane, seq)
);
