/**
 * The floor's own tables, in the schema `floor`: the rows that a conventional program stores for grants, codes, tokens and links,
 * with the keys, foreign keys and indexes needed to look them up, revoke them and purge them. Clients, users and consents are
 * those of the service.
 */
const TABLES = `
  CREATE SCHEMA floor;
  CREATE TABLE floor.grants (
    id text PRIMARY KEY,
    client_id text NOT NULL,
    user_id text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    FOREIGN KEY (client_id, user_id) REFERENCES public.consents (client_id, user_id) ON DELETE CASCADE
  );
  CREATE INDEX ON floor.grants (client_id, user_id, id);
  CREATE INDEX ON floor.grants (user_id, id);
  CREATE INDEX ON floor.grants (expires_at);
  CREATE TABLE floor.authorization_codes (
    digest bytea PRIMARY KEY,
    client_id text NOT NULL,
    user_id text NOT NULL,
    redirect_uri text NOT NULL,
    scopes text[] NOT NULL,
    code_challenge text,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    consumed_at timestamptz,
    grant_id text REFERENCES floor.grants (id) ON DELETE CASCADE,
    FOREIGN KEY (client_id, user_id) REFERENCES public.consents (client_id, user_id) ON DELETE CASCADE
  );
  CREATE INDEX ON floor.authorization_codes (client_id, user_id);
  CREATE INDEX ON floor.authorization_codes (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX ON floor.authorization_codes (expires_at);
  CREATE TABLE floor.access_tokens (
    digest bytea PRIMARY KEY,
    client_id text NOT NULL REFERENCES public.clients (id) ON DELETE CASCADE,
    grant_id text REFERENCES floor.grants (id) ON DELETE CASCADE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
  );
  CREATE INDEX ON floor.access_tokens (client_id);
  CREATE INDEX ON floor.access_tokens (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX ON floor.access_tokens (expires_at);
  CREATE TABLE floor.refresh_tokens (
    digest bytea PRIMARY KEY,
    grant_id text NOT NULL REFERENCES floor.grants (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    retired_at timestamptz,
    successor_digest bytea
  );
  CREATE UNIQUE INDEX ON floor.refresh_tokens (grant_id) WHERE retired_at IS NULL;
  CREATE INDEX ON floor.refresh_tokens (grant_id);
  CREATE INDEX ON floor.refresh_tokens (expires_at) WHERE retired_at IS NULL;
  CREATE TABLE floor.portal_links (
    digest bytea PRIMARY KEY,
    client_id text NOT NULL REFERENCES public.clients (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    redeemed_at timestamptz
  );
  CREATE INDEX ON floor.portal_links (client_id);
  CREATE INDEX ON floor.portal_links (expires_at);
`;

/** The search path of the floor and pgbench: their own tables first. */
export const FLOOR_SEARCH_PATH = '-c search_path=floor,public';

/** Creates the floor's tables in a database with the service's schema. */
export const createFloorTables = (query) => query(TABLES);
