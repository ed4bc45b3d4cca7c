import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SCOPES } from './scopes.js';

/** Scopes, clients with their secrets, and the consents of users. */
export class Clients1764000000003 implements MigrationInterface {
  name = 'Clients1764000000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE scopes (
        name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_.:-]{1,64}$'),
        -- What access tokens say instead of the name.
        number integer GENERATED ALWAYS AS IDENTITY CONSTRAINT scopes_number_key UNIQUE,
        description text NOT NULL CHECK (length(description) BETWEEN 1 AND 300),
        audience text NOT NULL CHECK (audience IN ('partner', 'operator'))
      );

      CREATE TABLE clients (
        id text PRIMARY KEY CHECK (id ~ '^clnt[0-9A-HJKMNP-TV-Z]{26}$'),
        name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
        type text NOT NULL CHECK (type IN ('confidential', 'public')),
        owner_id text NOT NULL CONSTRAINT clients_owner_id_fkey REFERENCES users (id),
        -- For the foreign key that says that owners are live.
        owner_realm text NOT NULL DEFAULT 'live',
        environment text NOT NULL DEFAULT 'live',
        realm text NOT NULL DEFAULT 'live',
        grant_types text[] NOT NULL,
        scopes text[] NOT NULL,
        redirect_uris text[] NOT NULL,
        enabled boolean NOT NULL DEFAULT true,
        -- May have operator scopes although its owner is no operator.
        company_service boolean NOT NULL DEFAULT false,
        rate_limit integer CHECK (rate_limit BETWEEN 1 AND 1000000000),
        -- Incremented to end all tokens that a client has in its own name.
        token_epoch integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        CHECK (type = 'confidential' OR grant_types <@ ARRAY['authorization_code', 'refresh_token']),
        CONSTRAINT clients_environment_check CHECK (owner_realm = 'live' AND CASE environment
          WHEN 'live' THEN realm = 'live'
          WHEN 'sandbox' THEN realm = owner_id AND NOT scopes && ARRAY['admin:read', 'admin:write']
          ELSE false END),
        CONSTRAINT clients_owner_realm_fkey FOREIGN KEY (owner_id, owner_realm) REFERENCES users (id, realm)
      );
      CREATE UNIQUE INDEX clients_realm_key ON clients (id, realm);
      CREATE INDEX clients_owner_id_idx ON clients (owner_id, id);
      CREATE INDEX clients_search_idx ON clients USING gin (name gin_trgm_ops);
      CREATE INDEX clients_sandbox_idx ON clients (id) WHERE environment = 'sandbox';
      CREATE TRIGGER clients_environment_fixed BEFORE UPDATE OF environment, realm ON clients
        FOR EACH ROW WHEN (OLD.realm IS DISTINCT FROM NEW.realm) EXECUTE FUNCTION refuse_other_environment();

      CREATE TABLE client_secrets (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        digest bytea NOT NULL CHECK (octet_length(digest) = 32),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        PRIMARY KEY (client_id, digest)
      );

      -- Not a column of the secrets: instances that remember a client would have to forget it whenever its secret is used.
      CREATE TABLE client_secret_uses (
        client_id text NOT NULL,
        digest bytea NOT NULL,
        last_used_at timestamptz NOT NULL,
        PRIMARY KEY (client_id, digest),
        FOREIGN KEY (client_id, digest) REFERENCES client_secrets (client_id, digest) ON DELETE CASCADE
      ) WITH (fillfactor = 70);

      CREATE TABLE consents (
        client_id text NOT NULL CONSTRAINT consents_client_id_fkey REFERENCES clients (id) ON DELETE CASCADE,
        user_id text NOT NULL CONSTRAINT consents_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        realm text NOT NULL DEFAULT 'live',
        scopes text[] NOT NULL,
        granted_at timestamptz NOT NULL DEFAULT now(),
        -- When each scope was given, in their order. A scope keeps its time while the consent lasts.
        scopes_granted_at timestamptz[],
        revoked_at timestamptz,
        evidence text CHECK (length(evidence) <= 2000),
        PRIMARY KEY (client_id, user_id),
        CONSTRAINT consents_client_realm_fkey FOREIGN KEY (client_id, realm) REFERENCES clients (id, realm) ON DELETE CASCADE,
        CONSTRAINT consents_user_realm_fkey FOREIGN KEY (user_id, realm) REFERENCES users (id, realm) ON DELETE CASCADE
      );
      CREATE INDEX consents_user_id_idx ON consents (user_id, client_id);

      CREATE FUNCTION note_when_scopes_were_given() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.scopes_granted_at := ARRAY(
            SELECT CASE WHEN TG_OP = 'INSERT' OR OLD.revoked_at IS NOT NULL THEN NEW.granted_at
                        WHEN OLD.scopes @> ARRAY[s.name] THEN OLD.scopes_granted_at[array_position(OLD.scopes, s.name)]
                        ELSE now() END
              FROM unnest(NEW.scopes) WITH ORDINALITY AS s (name, place) ORDER BY s.place);
          RETURN NEW;
        END
      $$;
      CREATE TRIGGER consents_note_when_scopes_were_given BEFORE INSERT OR UPDATE OF scopes ON consents
        FOR EACH ROW EXECUTE FUNCTION note_when_scopes_were_given();
    `);
    for (const scope of SCOPES) {
      await queryRunner.query('INSERT INTO scopes (name, audience, description) VALUES ($1, $2, $3)', scope);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE consents, client_secret_uses, client_secrets, clients, scopes;
      DROP FUNCTION note_when_scopes_were_given;
    `);
  }
}
