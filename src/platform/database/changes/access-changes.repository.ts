import { Injectable } from '@nestjs/common';
import { Listener } from '../connections/listener.service.js';
import type { AccessSubject } from './access-subject.js';

/** What one read of the changes returns. */
export interface ChangesRead {
  snapshot: string;
  position: number;
  /** The position in the write-ahead log, in bytes, at which every transaction that the snapshot sees had ended. */
  logged: number;
  /** How much of the log was flushed to disk, in bytes: a crash loses the rest. */
  flushed: number;
  /** Milliseconds since 1970. */
  now: number;
  /** Identifies the cluster, the database, its table of changes and the timeline; null if it was not asked for. */
  life: string | null;
  /** Whether changes that the read before may not have seen were purged since; null if it was not asked for. */
  isPurged: boolean | null;
  changes: Change[];
}

/** `id` is the row's, in the order of insertion. */
export type Change = [xid: number, ids: string[], about: AccessSubject[] | null, id: number];

/** The changes since a position. */
export interface ChangesSince {
  /** The newest transaction with a change that was purged. */
  purged: number;
  /** Oldest first; null if unknown. */
  changes: (AccessSubject[] | null)[];
}

/**
 * The changes made by transactions that the snapshot $1 does not see, newest first, and the snapshot that sees them. One
 * statement, so that no change is missed between two reads, however long its transaction took.
 */
const READ = `
  SELECT pg_current_snapshot()::text AS snapshot, pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS position,
         (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS logged,
         (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::float8 AS flushed,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
         CASE WHEN $3 THEN (SELECT system_identifier FROM pg_control_system()) || ' '
                             || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' '
                             || 'access_changes'::regclass::oid || ' '
                             || left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS life,
         CASE WHEN $3 THEN (SELECT up_to >= pg_snapshot_xmin($1::pg_snapshot) FROM access_changes_purged) END AS "isPurged",
         coalesce((
           SELECT json_agg(json_build_array(xid::text::float8, ids, about, id)) FROM (
             SELECT id, xid, ids, CASE WHEN $1::text <> '3:3:' THEN about END AS about
               FROM ((SELECT * FROM access_changes WHERE xid >= pg_snapshot_xmax($1::pg_snapshot) ORDER BY xid DESC, id DESC LIMIT $2)
                     UNION ALL
                     SELECT * FROM access_changes WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot)))) AS unseen
              ORDER BY xid DESC, id DESC LIMIT $2
           ) AS newest
         ), '[]') AS changes`;

/** The newest $3 changes before the one with the number $2 of the transaction $1. */
const BEFORE = `
  SELECT coalesce(json_agg(json_build_array(xid::text::float8, ids, NULL, id)), '[]') AS changes FROM (
    SELECT id, xid, ids FROM access_changes WHERE xid <= $1::xid8 AND (xid < $1::xid8 OR id < $2) ORDER BY xid DESC, id DESC LIMIT $3
  ) AS newest`;

/** The oldest $2 changes of the transaction $1 and of later ones. */
const SINCE = `
  SELECT (SELECT up_to::text::float8 FROM access_changes_purged) AS purged,
         coalesce((
           SELECT json_agg(about) FROM (
             SELECT about FROM access_changes WHERE xid >= $1::xid8 ORDER BY xid LIMIT $2
           ) AS oldest
         ), '[]') AS changes`;

/** Reads the changes on the listener's connection. By a named statement, because every instance runs it many times a second. */
@Injectable()
export class AccessChangesRepository {
  constructor(private readonly listener: Listener) {}

  /** Returns one row with the newest `limit` changes since the snapshot. Rejects if the listener is not connected. */
  readSince(snapshot: string, limit: number, asksLife: boolean): Promise<ChangesRead[]> {
    return this.listener.query<ChangesRead>({
      name: 'access changes',
      text: READ,
      values: [snapshot, limit, asksLife],
    });
  }

  /** Returns one row with the newest `limit` changes older than this one, newest first. Rejects if the listener is not connected. */
  readBefore([xid, , , id]: Change, limit: number): Promise<Pick<ChangesRead, 'changes'>[]> {
    return this.listener.query({ text: BEFORE, values: [String(xid), id, limit] });
  }

  /**
   * Returns one row with the clients and users that the changes since a transaction are about. Rejects if the listener is not
   * connected.
   */
  readSubjectsSince(position: number, limit: number): Promise<ChangesSince[]> {
    return this.listener.query<ChangesSince>({ text: SINCE, values: [String(position), limit] });
  }
}
