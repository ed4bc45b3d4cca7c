import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addEventTypes } from './support/event-types.js';

/**
 * Webhooks (contract §10): the catalogue of event types with the versions of their schemas (contract §21), endpoints, events,
 * deliveries and their attempts. Deliveries are a queue in the database: `next_attempt_at` is when a pending delivery is due or, while
 * an instance holds it, when the lease expires.
 */
export class Webhooks1764000000008 implements MigrationInterface {
  name = 'Webhooks1764000000008';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE event_types (
        name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_.]{1,64}$'),
        -- The scope that the client and the consent must have. Null: only for the client concerned, without a consent check.
        scope text REFERENCES scopes (name),
        publisher text NOT NULL CHECK (publisher IN ('services', 'itself')),
        description text NOT NULL CHECK (length(description) BETWEEN 1 AND 300),
        sample jsonb NOT NULL,
        -- A JSON Pointer into the data, to the id of what the event is about.
        resource text CHECK (length(resource) BETWEEN 1 AND 200),
        -- Counts the changes of the type and its versions: an instance that has read another one reads again.
        revision integer NOT NULL DEFAULT 1
      );
      CREATE INDEX event_types_scope_idx ON event_types (scope);

      CREATE TABLE event_type_versions (
        type text NOT NULL REFERENCES event_types (name) ON DELETE CASCADE,
        version integer NOT NULL CHECK (version >= 1),
        -- As it was written, because people read it.
        schema json NOT NULL,
        draft boolean NOT NULL DEFAULT false,
        -- The revision of the type at which the schema last changed.
        revision integer NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now(),
        -- When the first event was published with it: from then on it does not change.
        used_at timestamptz,
        PRIMARY KEY (type, version),
        CHECK (NOT draft OR used_at IS NULL)
      );

      -- Updated by every attempt, so some space is left beside each row.
      CREATE TABLE webhook_endpoints (
        id text PRIMARY KEY CHECK (id ~ '^endp[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL CONSTRAINT webhook_endpoints_client_id_fkey REFERENCES clients (id) ON DELETE CASCADE,
        realm text NOT NULL DEFAULT 'live',
        url text NOT NULL CHECK (length(url) <= 2048),
        description text NOT NULL DEFAULT '' CHECK (length(description) <= 200),
        event_types text[] NOT NULL CHECK (cardinality(event_types) >= 1),
        max_per_minute integer CHECK (max_per_minute BETWEEN 1 AND 6000),
        header_names text[] NOT NULL DEFAULT '{}',
        -- The values of the headers by name, sealed.
        sealed_headers bytea,
        sealed_secret bytea NOT NULL,
        -- During a rotation: the previous secret.
        sealed_previous_secret bytea,
        previous_secret_expires_at timestamptz,
        enabled boolean NOT NULL DEFAULT true,
        -- Why the service disabled the endpoint; null where a person disabled it.
        disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
        disabled_at timestamptz,
        last_attempt_at timestamptz,
        -- The time of the first failed attempt since the last success.
        failing_since timestamptz,
        failing_told_at timestamptz,
        -- The results of its last 20 attempts, oldest first: "." for delivered, "x" for failed.
        recent_results text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        -- A deleted endpoint is kept as long as its deliveries are.
        deleted_at timestamptz,
        CHECK (enabled = (disabled_at IS NULL)),
        CHECK ((sealed_previous_secret IS NULL) = (previous_secret_expires_at IS NULL)),
        CONSTRAINT webhook_endpoints_headers_check CHECK ((sealed_headers IS NULL) = (cardinality(header_names) = 0)),
        CONSTRAINT webhook_endpoints_client_realm_fkey
          FOREIGN KEY (client_id, realm) REFERENCES clients (id, realm) ON DELETE CASCADE
      ) WITH (fillfactor = 70);
      CREATE UNIQUE INDEX webhook_endpoints_realm_key ON webhook_endpoints (id, realm);
      CREATE INDEX webhook_endpoints_client_id_idx ON webhook_endpoints (client_id, id) WHERE deleted_at IS NULL;
      CREATE INDEX webhook_endpoints_any_client_id_idx ON webhook_endpoints (client_id);
      CREATE INDEX webhook_endpoints_disabled_idx ON webhook_endpoints (id) WHERE NOT enabled AND deleted_at IS NULL;
      CREATE INDEX webhook_endpoints_deleted_at_idx ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL;

      CREATE TABLE webhook_throttles (
        endpoint_id text PRIMARY KEY REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        -- Until when no attempt may start.
        blocked_until timestamptz NOT NULL DEFAULT '-infinity',
        -- How many attempts started in each second of the last minute.
        start_seconds timestamptz[] NOT NULL DEFAULT '{}',
        start_counts integer[] NOT NULL DEFAULT '{}'
      ) WITH (fillfactor = 70);

      -- When an endpoint was disabled, so that what was missed can be sent.
      CREATE TABLE webhook_pauses (
        endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        disabled_at timestamptz NOT NULL,
        enabled_at timestamptz NOT NULL,
        -- When what was missed in this time was sent.
        sent_at timestamptz,
        PRIMARY KEY (endpoint_id, disabled_at)
      );
      CREATE INDEX webhook_pauses_enabled_at_idx ON webhook_pauses (enabled_at);

      CREATE TABLE events (
        id text PRIMARY KEY CHECK (id ~ '^evnt[0-9A-HJKMNP-TV-Z]{26}$'),
        type text NOT NULL REFERENCES event_types (name),
        version integer NOT NULL DEFAULT 1,
        -- Null for a test event, whose user is fictitious, and when the user was erased.
        user_id text,
        realm text NOT NULL DEFAULT 'live',
        -- Of an event that is for one client only: that client.
        client_id text,
        -- The body of every request that delivers this event; null when its user was erased.
        payload text,
        -- How many endpoints the event was sent to when it was accepted.
        deliveries integer NOT NULL,
        test boolean NOT NULL DEFAULT false,
        -- The transaction, in whose order the feed of events is read.
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT events_user_realm_fkey
          FOREIGN KEY (user_id, realm) REFERENCES users (id, realm) ON DELETE SET NULL (user_id)
      );
      CREATE UNIQUE INDEX events_realm_key ON events (id, realm);
      CREATE INDEX events_user_id_idx ON events (user_id);
      CREATE INDEX events_type_idx ON events (type);
      CREATE INDEX events_feed_idx ON events (xid, id) WHERE NOT test;
      CREATE INDEX events_created_at_idx ON events (created_at);

      -- The number of the last event about each thing of a user.
      CREATE TABLE event_sequences (
        user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        -- The part of the type before the dot.
        family text NOT NULL,
        resource_id text NOT NULL CHECK (length(resource_id) BETWEEN 1 AND 255),
        last bigint NOT NULL,
        -- The day of the last event, so that most updates change no indexed column.
        seen_on date NOT NULL DEFAULT current_date,
        PRIMARY KEY (user_id, family, resource_id)
      ) WITH (fillfactor = 70);
      CREATE INDEX event_sequences_seen_on_idx ON event_sequences (seen_on);

      CREATE TABLE event_idempotency_keys (
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        key_digest bytea NOT NULL CHECK (octet_length(key_digest) = 32),
        body_digest bytea NOT NULL CHECK (octet_length(body_digest) = 32),
        event_id text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (client_id, key_digest)
      );
      CREATE INDEX event_idempotency_keys_created_at_idx ON event_idempotency_keys (created_at);

      CREATE TABLE deliveries (
        id text PRIMARY KEY CHECK (id ~ '^dlvr[0-9A-HJKMNP-TV-Z]{26}$'),
        event_id text NOT NULL,
        event_type text NOT NULL,
        endpoint_id text NOT NULL,
        client_id text NOT NULL,
        realm text NOT NULL DEFAULT 'live',
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
        cancel_reason text CHECK (cancel_reason IN
          ('consent_withdrawn', 'scope_missing', 'endpoint_disabled', 'endpoint_deleted', 'client_disabled')),
        -- All attempts so far, and how many retries of the schedule are used up.
        attempts integer NOT NULL DEFAULT 0,
        retries integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz DEFAULT now(),
        -- The current holder of the lease; fences off a previous holder that reports late.
        lease_id text,
        recovery_id text,
        -- Whether the user it concerns was erased: an attempt that is under way finds this when it ends.
        erased boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
        CHECK ((state = 'cancelled') = (cancel_reason IS NOT NULL)),
        CONSTRAINT deliveries_event_realm_fkey FOREIGN KEY (event_id, realm) REFERENCES events (id, realm) ON DELETE CASCADE,
        CONSTRAINT deliveries_endpoint_realm_fkey
          FOREIGN KEY (endpoint_id, realm) REFERENCES webhook_endpoints (id, realm) ON DELETE CASCADE
      );
      -- The queue: the due deliveries of each endpoint, the earliest first.
      CREATE INDEX deliveries_pending_idx ON deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
      CREATE INDEX deliveries_event_id_idx ON deliveries (event_id);
      CREATE INDEX deliveries_client_id_idx ON deliveries (client_id, id);
      CREATE INDEX deliveries_endpoint_id_idx ON deliveries (endpoint_id, id);
      -- Those in one state, of all, of a client or of an endpoint. In an order of their own, which no other index has: see orderOf of
      -- the lists.
      CREATE INDEX deliveries_state_idx ON deliveries (state, id COLLATE "C");
      CREATE INDEX deliveries_client_state_idx ON deliveries (client_id, state, id COLLATE "C");
      CREATE INDEX deliveries_endpoint_state_idx ON deliveries (endpoint_id, state, id COLLATE "C");
      -- The few deliveries that failed, which people look for among the many that succeeded.
      CREATE INDEX deliveries_unsuccessful_idx ON deliveries (client_id, id) WHERE state IN ('failed', 'cancelled');
      CREATE INDEX deliveries_recovery_id_idx ON deliveries (recovery_id, state) WHERE recovery_id IS NOT NULL;
      -- Whether an endpoint has failures says nothing about another: by each column alone, PostgreSQL expects the usual share of each.
      CREATE STATISTICS deliveries_states (mcv) ON client_id, endpoint_id, state FROM deliveries;

      -- Delivery ids are generated here, because only the statement that fans an event out knows how many it needs. They have the
      -- form of a ULID.
      CREATE FUNCTION new_delivery_id() RETURNS text LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
        WITH alphabet (letters) AS (SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
             made (ms, noise) AS (
               SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                      uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
        SELECT 'dlvr'
            || (SELECT string_agg(substr(letters, ((ms >> (5 * place)) & 31)::int + 1, 1), '' ORDER BY place DESC)
                  FROM generate_series(0, 9) AS place)
            -- Bytes 9 to 15 of a random UUID are purely random.
            || (SELECT string_agg(substr(letters, (get_byte(noise, place) & 31) + 1, 1), '')
                  FROM unnest(ARRAY[0,1,2,3,4,5,9,10,11,12,13,14,15,16,17,18]) AS place)
          FROM alphabet, made
      $$;

      CREATE TABLE delivery_attempts (
        delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
        number integer NOT NULL,
        attempted_at timestamptz NOT NULL,
        duration_ms integer NOT NULL,
        url text,
        signature text NOT NULL,
        -- The names of the headers of the endpoint's own.
        own_headers text[],
        status integer,
        response_headers jsonb,
        response_start text,
        -- Why no response arrived: dns, tls, timeout, blocked_address, http.
        failure text,
        detail text,
        PRIMARY KEY (delivery_id, number)
      );

      -- The data of the charts: the attempts of each endpoint by hour.
      CREATE TABLE webhook_endpoint_hours (
        endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        hour timestamptz NOT NULL,
        delivered integer NOT NULL,
        failed integer NOT NULL,
        duration_ms bigint NOT NULL,
        slowest_ms integer NOT NULL,
        PRIMARY KEY (endpoint_id, hour)
      ) WITH (fillfactor = 70);
      CREATE INDEX webhook_endpoint_hours_hour_idx ON webhook_endpoint_hours (hour);

      CREATE TABLE webhook_recoveries (
        id text PRIMARY KEY CHECK (id ~ '^rcvr[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
        endpoint_id text REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        kind text NOT NULL DEFAULT 'failed',
        failed_from timestamptz NOT NULL,
        failed_to timestamptz NOT NULL,
        total integer NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX webhook_recoveries_client_id_idx ON webhook_recoveries (client_id);
      CREATE INDEX webhook_recoveries_endpoint_id_idx ON webhook_recoveries (endpoint_id, id);
      CREATE INDEX webhook_recoveries_created_at_idx ON webhook_recoveries (created_at);

      -- A sealed text that shows whether the service has the key of this database (src/webhooks/signing/encryption-canary.ts).
      CREATE TABLE encryption_canary (
        -- Exactly one row.
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        key_id text NOT NULL,
        sealed bytea NOT NULL,
        sealed_at timestamptz NOT NULL DEFAULT now()
      );
    `);
    await addEventTypes(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE encryption_canary, webhook_recoveries, webhook_endpoint_hours, delivery_attempts, deliveries,
        event_idempotency_keys, event_sequences, events, webhook_pauses, webhook_throttles, webhook_endpoints,
        event_type_versions, event_types;
      DROP FUNCTION new_delivery_id;
    `);
  }
}
