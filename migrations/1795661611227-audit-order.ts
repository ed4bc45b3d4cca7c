import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './support/concurrent-index.js';

/**
 * The audit log can be followed (`operator audit --follow`) in the order of its commits, which is not that of its ids: an id is made
 * before the commit. What was there before comes first, by its ids.
 */
export class AuditOrder1795661611227 implements MigrationInterface {
  name = 'AuditOrder1795661611227';
  transaction = false as const;

  async up(queryRunner: QueryRunner): Promise<void> {
    // Statements of one query are one transaction: no entry is added in between.
    await queryRunner.query(`
      ALTER TABLE audit_events ADD COLUMN IF NOT EXISTS xid xid8 NOT NULL DEFAULT '0';
      ALTER TABLE audit_events ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
      ${protection('NEW.xid = OLD.xid AND', RESTORED)}

      -- Entries restored from a dump of a database whose transaction ids were higher: they get the id of this transaction, so that
      -- they come before what is still to come. With the rights of the schema's owner.
      CREATE OR REPLACE FUNCTION adopt_restored_audit_events() RETURNS void
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        UPDATE audit_events SET xid = pg_current_xact_id() WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())
      $$;
      REVOKE ALL ON FUNCTION adopt_restored_audit_events FROM PUBLIC;
    `);
    await createIndexConcurrently(queryRunner, {
      name: 'audit_events_xid_idx',
      on: 'audit_events (xid, id)',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION IF EXISTS adopt_restored_audit_events;
      ${protection('', '')}
      ALTER TABLE audit_events DROP COLUMN IF EXISTS xid;
    `);
  }
}

/** An entry may only move, and only from a place that no transaction has reached. */
const RESTORED = `
  IF TG_OP = 'UPDATE' AND OLD.xid >= pg_snapshot_xmax(pg_current_snapshot())
     AND NEW.xid = pg_current_xact_id() AND to_jsonb(NEW) - 'xid' = to_jsonb(OLD) - 'xid' THEN
    RETURN NEW;
  END IF;`;

/** As in 1764000000011-operations.ts, with a condition and a case more. */
const protection = (condition: string, more: string): string => `
  CREATE OR REPLACE FUNCTION protect_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND OLD.occurred_at < now() - interval '365 days' THEN
        RETURN OLD;
      END IF;${more}
      IF TG_OP = 'UPDATE'
         AND (NEW.id, NEW.occurred_at, NEW.actor_type, NEW.action, NEW.subject_type, NEW.subject_id)
           = (OLD.id, OLD.occurred_at, OLD.actor_type, OLD.action, OLD.subject_type, OLD.subject_id)
         AND ${condition} NEW.actor_id IS NOT DISTINCT FROM OLD.actor_id AND NEW.request_id IS NOT DISTINCT FROM OLD.request_id
         AND (NEW.before IS NULL OR NEW.before = OLD.before) AND (NEW.after IS NULL OR NEW.after = OLD.after)
         AND (NEW.address IS NULL OR NEW.address = OLD.address)
         AND EXISTS (SELECT 1 FROM unnest(ARRAY[OLD.subject_id, OLD.actor_id]) AS person (id)
                      WHERE person.id LIKE 'user%' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = person.id))
      THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'The audit log cannot be changed.' USING ERRCODE = 'insufficient_privilege';
    END
  $$;`;
