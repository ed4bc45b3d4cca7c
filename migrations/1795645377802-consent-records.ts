import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The record of consents: every state that a consent has ever had, with the words that were shown, only added to
 * (docs/decisions/0031-consent-records.md). The database writes it, so no change of a consent can go unrecorded.
 */
export class ConsentRecords1795645377802 implements MigrationInterface {
  name = 'ConsentRecords1795645377802';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- The exact words of a consent page, kept once for all who saw them.
      CREATE TABLE consent_words (
        digest bytea PRIMARY KEY,
        language text NOT NULL,
        words text NOT NULL,
        CHECK (digest = sha256(convert_to(words, 'UTF8')))
      );

      -- How the consent came to be as it is: what the next version says.
      ALTER TABLE consents
        ADD COLUMN expires_at timestamptz,
        ADD COLUMN method text NOT NULL DEFAULT 'import'
          CHECK (method IN ('page', 'account', 'operator', 'sandbox', 'import', 'schedule', 'service')),
        ADD COLUMN reason text,
        ADD COLUMN recorded_by text,
        ADD COLUMN language text,
        ADD COLUMN words_digest bytea REFERENCES consent_words (digest),
        -- What the client said the data are for: names of purposes.
        ADD COLUMN purposes text[] NOT NULL DEFAULT '{}',
        -- Scopes whose words have come to mean something else since the user agreed to them.
        ADD COLUMN words_changed text[] NOT NULL DEFAULT '{}';
      CREATE INDEX consents_expires_at_idx ON consents (expires_at, client_id, user_id) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

      -- Ids without foreign keys: the record outlives the rows that it is about.
      CREATE TABLE consent_versions (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        client_id text NOT NULL,
        user_id text NOT NULL,
        -- Counts from 1 for each user and client.
        number integer NOT NULL CHECK (number > 0),
        replaces uuid,
        recorded_at timestamptz NOT NULL DEFAULT now(),
        event text NOT NULL CHECK (event IN ('given', 'changed', 'ended')),
        scopes text[] NOT NULL,
        purposes text[] NOT NULL DEFAULT '{}',
        granted_at timestamptz NOT NULL,
        valid_until timestamptz,
        ended_at timestamptz,
        method text NOT NULL,
        reason text,
        recorded_by text,
        -- As shown at that moment.
        client_name text,
        organisation text,
        environment text,
        language text,
        words_digest bytea REFERENCES consent_words (digest),
        evidence text,
        evidence_digest bytea,
        -- When the person was erased: from then on the user's id is a pseudonym that leads nowhere.
        forgotten_at timestamptz,
        UNIQUE (client_id, user_id, number),
        CHECK ((number = 1) = (replaces IS NULL)),
        CHECK ((event = 'ended') = (ended_at IS NOT NULL))
      );
      CREATE INDEX consent_versions_user_idx ON consent_versions (user_id, client_id, number);
      CREATE INDEX consent_versions_ends_idx ON consent_versions (recorded_at) WHERE event = 'ended';

      -- A client that is deleted takes its consents along: those that were live end with it.
      CREATE FUNCTION record_consent_versions() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO consent_versions (client_id, user_id, number, replaces, event, scopes, purposes, granted_at, valid_until, ended_at, method,
                                        reason, recorded_by, client_name, organisation, environment, language, words_digest,
                                        evidence, evidence_digest)
          SELECT k.client_id, k.user_id, coalesce(last.number, 0) + 1, last.id,
                 CASE WHEN TG_OP = 'DELETE' OR k.revoked_at IS NOT NULL THEN 'ended'
                      WHEN last.id IS NULL OR last.ended_at IS NOT NULL THEN 'given' ELSE 'changed' END,
                 k.scopes, k.purposes, k.granted_at, k.expires_at,
                 CASE WHEN TG_OP = 'DELETE' THEN now() ELSE k.revoked_at END,
                 CASE WHEN TG_OP = 'DELETE' THEN 'service' ELSE k.method END,
                 CASE WHEN TG_OP <> 'DELETE' THEN k.reason
                      WHEN EXISTS (SELECT 1 FROM users u WHERE u.id = k.user_id) THEN 'client_deleted' ELSE 'user_erased' END,
                 CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE k.recorded_by END,
                 coalesce(c.name, last.client_name), coalesce(to_jsonb(c) ->> 'organisation', last.organisation),
                 coalesce(c.environment, last.environment),
                 CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE k.language END,
                 CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE k.words_digest END,
                 CASE WHEN TG_OP <> 'DELETE' THEN k.evidence END, sha256(convert_to(k.evidence, 'UTF8'))
            FROM changed k
            LEFT JOIN clients c ON c.id = k.client_id
            LEFT JOIN LATERAL (
              SELECT v.id, v.number, v.ended_at, v.client_name, v.organisation, v.environment FROM consent_versions v
               WHERE v.client_id = k.client_id AND v.user_id = k.user_id ORDER BY v.number DESC LIMIT 1
            ) last ON true
           WHERE TG_OP <> 'DELETE' OR k.revoked_at IS NULL;
          RETURN NULL;
        END
      $$;
      CREATE TRIGGER consents_record_version_insert AFTER INSERT ON consents REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_consent_versions();
      CREATE TRIGGER consents_record_version_update AFTER UPDATE ON consents REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_consent_versions();
      CREATE TRIGGER consents_record_version_delete AFTER DELETE ON consents REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION record_consent_versions();

      -- Versions do not change. They go five years after the end of the consent, and of an erased person only what the trail needs
      -- remains.
      CREATE FUNCTION protect_consent_versions() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE'
             AND NOT EXISTS (SELECT 1 FROM consents k
                              WHERE k.client_id = OLD.client_id AND k.user_id = OLD.user_id AND k.revoked_at IS NULL)
             AND NOT EXISTS (SELECT 1 FROM consent_versions v
                              WHERE v.client_id = OLD.client_id AND v.user_id = OLD.user_id
                                AND v.recorded_at >= now() - interval '5 years')
          THEN
            RETURN OLD;
          END IF;
          IF TG_OP = 'UPDATE'
             AND NEW.evidence IS NULL AND NEW.recorded_by IS NULL AND OLD.forgotten_at IS NULL AND NEW.forgotten_at IS NOT NULL
             AND to_jsonb(NEW) - '{evidence,recorded_by,forgotten_at}'::text[] = to_jsonb(OLD) - '{evidence,recorded_by,forgotten_at}'::text[]
             AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = OLD.user_id)
          THEN
            RETURN NEW;
          END IF;
          RAISE EXCEPTION 'The record of consents cannot be changed.' USING ERRCODE = 'insufficient_privilege';
        END
      $$;
      CREATE TRIGGER consent_versions_stay BEFORE UPDATE OR DELETE ON consent_versions
        FOR EACH ROW EXECUTE FUNCTION protect_consent_versions();
      CREATE TRIGGER consent_versions_stay_all BEFORE TRUNCATE ON consent_versions
        FOR EACH STATEMENT EXECUTE FUNCTION protect_consent_versions();
      CREATE FUNCTION protect_consent_words() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'The words of consents cannot be changed.' USING ERRCODE = 'insufficient_privilege';
        END
      $$;
      CREATE TRIGGER consent_words_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON consent_words
        FOR EACH STATEMENT EXECUTE FUNCTION protect_consent_words();

      -- The service needs no right to change the record: this has the rights of the schema's owner. It removes the versions of up to that many consents that ended more than five years ago, from the given time on.
      CREATE FUNCTION purge_consent_versions(since timestamptz, size integer) RETURNS TABLE (count integer, last timestamptz)
        LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        WITH going AS (
          SELECT v.client_id, v.user_id, v.recorded_at FROM consent_versions v
           WHERE v.event = 'ended' AND v.recorded_at < now() - interval '5 years' AND v.recorded_at >= since
             AND NOT EXISTS (SELECT 1 FROM consent_versions w
                              WHERE w.client_id = v.client_id AND w.user_id = v.user_id AND w.number > v.number)
           ORDER BY v.recorded_at LIMIT size FOR UPDATE SKIP LOCKED
        ), gone AS (
          DELETE FROM consent_versions v USING going g WHERE v.client_id = g.client_id AND v.user_id = g.user_id
        )
        SELECT count(*)::integer, max(recorded_at) FROM going
      $$;

      REVOKE ALL ON FUNCTION purge_consent_versions FROM PUBLIC;

      -- Of an erased person the record keeps no text that an operator wrote. After the consents are gone: triggers run by name.
      CREATE FUNCTION forget_in_consent_versions() RETURNS trigger LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        BEGIN
          UPDATE consent_versions SET evidence = NULL, recorded_by = NULL, forgotten_at = now()
           WHERE user_id IN (SELECT id FROM gone) AND forgotten_at IS NULL;
          RETURN NULL;
        END
      $$;
      -- A trigger needs nobody's right to run it.
      REVOKE ALL ON FUNCTION forget_in_consent_versions FROM PUBLIC;
      CREATE TRIGGER users_forget_in_consent_versions AFTER DELETE ON users REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION forget_in_consent_versions();

      -- Keys that sign receipts. The private part is sealed under ENCRYPTION_KEY; the public part stays for good.
      CREATE TABLE receipt_keys (
        id text PRIMARY KEY,
        public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
        sealed bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        retired_at timestamptz
      );
      CREATE UNIQUE INDEX receipt_keys_signing_idx ON receipt_keys ((true)) WHERE retired_at IS NULL;

      -- What was agreed before is recorded as it stands.
      UPDATE consents SET method = CASE WHEN evidence IS NULL THEN 'page' ELSE 'operator' END;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER users_forget_in_consent_versions ON users;
      DROP TRIGGER consents_record_version_insert ON consents;
      DROP TRIGGER consents_record_version_update ON consents;
      DROP TRIGGER consents_record_version_delete ON consents;
      ALTER TABLE consents
        DROP COLUMN expires_at, DROP COLUMN method, DROP COLUMN reason, DROP COLUMN recorded_by, DROP COLUMN language,
        DROP COLUMN words_digest, DROP COLUMN purposes, DROP COLUMN words_changed;
      DROP FUNCTION purge_consent_versions, forget_in_consent_versions, record_consent_versions;
      DROP TABLE consent_versions, consent_words, receipt_keys;
      DROP FUNCTION protect_consent_versions, protect_consent_words;
    `);
  }
}
