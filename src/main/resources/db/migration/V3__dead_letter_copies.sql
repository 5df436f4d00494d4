-- When a dead letter is next due for its copy to the queue's dead-letter exchange; null once the copy is with the broker.
-- Those that were there before this column are not copied.
alter table ${schema}.dead_letter add column copy_due timestamptz;
alter table ${schema}.dead_letter alter column copy_due set default now();
create index dead_letter_copy on ${schema}.dead_letter (consumer, dead_at) where copy_due is not null;
