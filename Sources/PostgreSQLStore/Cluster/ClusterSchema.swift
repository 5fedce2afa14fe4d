/// The tables and functions of several nodes (Cluster.md, "The lease").
///
/// Each change is one call of a function: no process can stop in the middle of its transaction. All
/// changes lock the row of `clusterState` first, so that each sees what the one before has done.
enum ClusterSchema {
  /// Notified by each change.
  static let channel = "throng_cluster"

  // - `node.isAlone`: a process without a cluster, which shares the database with nobody.
  // - `throng_expire`: SKIP LOCKED, because a node that waited here for the end of another one's
  //   commit could not renew its own lease meanwhile. The next round finds it again.
  // - `busMessage`: unlogged, because after a crash of the database all nodes have been cut off anyway.
  static let v1 = """
    ALTER TABLE node ADD COLUMN address text NOT NULL DEFAULT '', ADD COLUMN release text NOT NULL DEFAULT '',
      ADD COLUMN busVersion bigint NOT NULL DEFAULT 0, ADD COLUMN isDraining boolean NOT NULL DEFAULT false,
      ADD COLUMN isOnBus boolean NOT NULL DEFAULT true, ADD COLUMN isAlone boolean NOT NULL DEFAULT true;
    CREATE TABLE shard (number bigint PRIMARY KEY, owner bigint, epoch bigint NOT NULL);
    INSERT INTO shard SELECT number, NULL, 0 FROM generate_series(0, 1023) AS number;
    CREATE TABLE clusterState (version bigint NOT NULL);
    INSERT INTO clusterState VALUES (1);
    CREATE UNLOGGED TABLE busMessage (
      publisher bigint NOT NULL,
      number bigint NOT NULL,
      data bytea NOT NULL,
      time timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (publisher, number)
    );

    CREATE FUNCTION throng_change() RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      UPDATE clusterState SET version = version + 1;
      PERFORM pg_notify('\(channel)', '');
    END $body$;

    CREATE FUNCTION throng_join(name text, address text, release text, busVersion bigint) RETURNS bigint
    LANGUAGE plpgsql AS $body$
    DECLARE
      joined bigint;
    BEGIN
      PERFORM throng_change();
      INSERT INTO node (name, address, release, busVersion, isAlone) VALUES ($1, $2, $3, $4, false)
      RETURNING number INTO joined;
      INSERT INTO writer VALUES (joined, 0, false);
      DELETE FROM writer WHERE isGone AND node < joined - 1000;
      RETURN joined;
    END $body$;

    CREATE FUNCTION throng_expire(lease bigint) RETURNS SETOF bigint LANGUAGE plpgsql AS $body$
    DECLARE
      gone bigint[];
    BEGIN
      PERFORM throng_change();
      SELECT coalesce(array_agg(old.number), '{}') INTO gone FROM (
        SELECT n.number FROM node AS n JOIN writer AS w ON w.node = n.number
        WHERE n.heartbeat < clock_timestamp() - $1 * interval '1 millisecond' FOR UPDATE SKIP LOCKED
      ) AS old;
      DELETE FROM node WHERE number = ANY(gone);
      UPDATE writer SET isGone = true WHERE node = ANY(gone);
      RETURN QUERY SELECT unnest(gone);
    END $body$;

    CREATE FUNCTION throng_leave(leaving bigint) RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      PERFORM throng_change();
      DELETE FROM node WHERE number = $1;
      UPDATE writer SET isGone = true WHERE node = $1;
    END $body$;

    CREATE FUNCTION throng_claim(claiming bigint, wanted bigint[]) RETURNS TABLE (claimed bigint, claimedEpoch bigint)
    LANGUAGE plpgsql AS $body$
    BEGIN
      PERFORM throng_change();
      RETURN QUERY UPDATE shard AS s SET owner = $1, epoch = s.epoch + 1
      WHERE s.number = ANY($2) AND EXISTS (SELECT 1 FROM node AS n WHERE n.number = $1)
        AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.number = s.owner)
      RETURNING s.number, s.epoch;
    END $body$;

    CREATE FUNCTION throng_release(releasing bigint, given bigint[]) RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      PERFORM throng_change();
      UPDATE shard SET owner = NULL WHERE number = ANY($2) AND owner = $1;
    END $body$;

    CREATE FUNCTION throng_drain(draining bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
    DECLARE
      found bigint;
    BEGIN
      PERFORM throng_change();
      UPDATE node SET isDraining = true WHERE number = $1;
      GET DIAGNOSTICS found = ROW_COUNT;
      RETURN found;
    END $body$;

    CREATE FUNCTION throng_bus(noting bigint, isConnected boolean) RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      PERFORM throng_change();
      UPDATE node SET isOnBus = $2 WHERE number = $1;
    END $body$;
    """

  // - `node.beat`: counts heartbeats, so that their signs differ however the server's clock steps. The
  //   time is a part of the sign for processes of the release before, which do not count.
  // - `throng_remove`: as `throng_expire`, which only the release before calls.
  // - `clusterKey`: default privileges of the database may have granted it to others.
  static let v2 = """
    ALTER TABLE node ADD COLUMN beat bigint NOT NULL DEFAULT 0;
    CREATE FUNCTION throng_sign(n node) RETURNS text STABLE LANGUAGE sql AS $body$
      SELECT n.beat || '.' || (extract(epoch FROM n.heartbeat) * 1000000)::bigint
    $body$;

    CREATE FUNCTION throng_remove(silent bigint[], signs text[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $body$
    DECLARE
      gone bigint[];
    BEGIN
      PERFORM throng_change();
      SELECT coalesce(array_agg(old.number), '{}') INTO gone FROM (
        SELECT n.number FROM node AS n JOIN writer AS w ON w.node = n.number
        WHERE EXISTS (SELECT 1 FROM unnest($1, $2) AS s(number, sign) WHERE s.number = n.number AND s.sign = throng_sign(n))
        FOR UPDATE SKIP LOCKED
      ) AS old;
      DELETE FROM node WHERE number = ANY(gone);
      UPDATE writer SET isGone = true WHERE node = ANY(gone);
      RETURN QUERY SELECT unnest(gone);
    END $body$;

    CREATE TABLE clusterKey (version bigint PRIMARY KEY, key bytea NOT NULL);
    DO $body$
    DECLARE
      other oid;
    BEGIN
      FOR other IN SELECT DISTINCT a.grantee FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = 'clusterKey'::regclass AND a.grantee <> c.relowner
      LOOP
        EXECUTE format('REVOKE ALL ON clusterKey FROM %s', CASE other WHEN 0 THEN 'PUBLIC' ELSE other::regrole::text END);
      END LOOP;
    END $body$;
    """
}
