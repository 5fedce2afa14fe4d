-- Gives every group of a restored PostgreSQL database a new epoch. Clients may have seen messages that the
-- copy does not have; with another epoch they read the history anew (Operations.md, "Copies").
-- Run it before any server uses the database:  psql -1 -v ON_ERROR_STOP=1 -f renew-epochs.sql DATABASE
CREATE TEMP TABLE renewed ON COMMIT DROP AS
  SELECT number, epoch AS old, substr(replace(gen_random_uuid()::text, '-', ''), 1, 16) AS new FROM groupRecord;
CREATE UNIQUE INDEX ON renewed (number);
ANALYZE renewed;
-- A msgID begins with the epoch of its group.
UPDATE message SET msgID = r.new || substr(msgID, length(r.old) + 1)
  FROM renewed AS r WHERE r.number = message.number AND starts_with(msgID, r.old || '-');
UPDATE application SET epoch = r.new FROM renewed AS r WHERE r.number = groupNumber AND application.epoch = r.old;
UPDATE groupRecord SET epoch = r.new FROM renewed AS r WHERE r.number = groupRecord.number;
