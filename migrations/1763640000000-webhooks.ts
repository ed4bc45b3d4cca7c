import type { MigrationInterface, QueryRunner } from 'typeorm';
import { EVENT_TYPES } from './event-types.js';

/**
 * Webhooks (contract §10): the catalogue of event types, endpoints, events, deliveries and their attempts. Deliveries are a queue
 * in the database: `next_attempt_at` is when a pending delivery is due or, while an instance holds it, when the lease expires.
 */
export class Webhooks1763640000000 implements MigrationInterface {
  name = 'Webhooks1763640000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE event_types (
        name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_.]{1,64}$'),
        -- The scope that the client and the consent must have. Null: only for the client concerned, without a consent check.
        scope text REFERENCES scopes (name),
        publisher text NOT NULL CHECK (publisher IN ('services', 'itself')),
        description text NOT NULL CHECK (length(description) BETWEEN 1 AND 300),
        sample jsonb NOT NULL
      );
      CREATE INDEX event_types_scope_idx ON event_types (scope);

      CREATE TABLE webhook_endpoints (
        id text PRIMARY KEY CHECK (id ~ '^endp[0-9A-HJKMNP-TV-Z]{26}$'),
        client_id text NOT NULL CONSTRAINT webhook_endpoints_client_id_fkey REFERENCES clients (id) ON DELETE CASCADE,
        url text NOT NULL CHECK (length(url) <= 2048),
        description text NOT NULL DEFAULT '' CHECK (length(description) <= 200),
        event_types text[] NOT NULL CHECK (cardinality(event_types) >= 1),
        enabled boolean NOT NULL DEFAULT true,
        -- Why the service disabled the endpoint; null where a person disabled it.
        disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
        disabled_at timestamptz,
        sealed_secret bytea NOT NULL,
        -- During a rotation: the previous secret.
        sealed_previous_secret bytea,
        previous_secret_expires_at timestamptz,
        last_attempt_at timestamptz,
        -- The time of the first failed attempt since the last success.
        failing_since timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        -- A deleted endpoint is kept as long as its deliveries are.
        deleted_at timestamptz,
        CHECK (enabled = (disabled_at IS NULL)),
        CHECK ((sealed_previous_secret IS NULL) = (previous_secret_expires_at IS NULL))
      ) WITH (fillfactor = 70);
      CREATE INDEX webhook_endpoints_client_id_idx ON webhook_endpoints (client_id, id) WHERE deleted_at IS NULL;
      CREATE INDEX webhook_endpoints_any_client_id_idx ON webhook_endpoints (client_id);
      CREATE INDEX webhook_endpoints_deleted_at_idx ON webhook_endpoints (deleted_at) WHERE deleted_at IS NOT NULL;

      CREATE TABLE events (
        id text PRIMARY KEY CHECK (id ~ '^evnt[0-9A-HJKMNP-TV-Z]{26}$'),
        type text NOT NULL REFERENCES event_types (name),
        -- Null for a test event, whose user is fictitious.
        user_id text REFERENCES users (id) ON DELETE CASCADE,
        -- The body of every request that delivers this event.
        payload text NOT NULL,
        -- How many endpoints the event was sent to when it was accepted.
        deliveries integer NOT NULL,
        test boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX events_user_id_idx ON events (user_id);
      CREATE INDEX events_type_idx ON events (type);
      CREATE INDEX events_created_at_idx ON events (created_at);

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
        event_id text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
        event_type text NOT NULL,
        endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        client_id text NOT NULL,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'cancelled')),
        cancel_reason text CHECK (cancel_reason IN ('consent_withdrawn', 'scope_missing', 'endpoint_disabled', 'endpoint_deleted', 'client_disabled')),
        -- All attempts so far, and how many retries of the schedule are used up.
        attempts integer NOT NULL DEFAULT 0,
        retries integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz DEFAULT now(),
        -- The current holder of the lease; fences off a previous holder that reports late.
        lease_id text,
        recovery_id text,
        created_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
        CHECK ((state = 'cancelled') = (cancel_reason IS NOT NULL))
      );
      -- The queue: the due deliveries of each endpoint, the earliest first.
      CREATE INDEX deliveries_pending_idx ON deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
      CREATE INDEX deliveries_event_id_idx ON deliveries (event_id);
      CREATE INDEX deliveries_client_id_idx ON deliveries (client_id, id);
      CREATE INDEX deliveries_endpoint_id_idx ON deliveries (endpoint_id, id);
      -- The few deliveries that failed, which people look for among the many that succeeded.
      CREATE INDEX deliveries_unsuccessful_idx ON deliveries (client_id, id) WHERE state IN ('failed', 'cancelled');
      CREATE INDEX deliveries_recovery_id_idx ON deliveries (recovery_id, state) WHERE recovery_id IS NOT NULL;

      CREATE TABLE delivery_attempts (
        delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
        number integer NOT NULL,
        attempted_at timestamptz NOT NULL,
        duration_ms integer NOT NULL,
        status integer,
        -- Why no response arrived: dns, tls, timeout, blocked_address, http.
        failure text,
        detail text,
        response_start text,
        signature text NOT NULL,
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
        endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        failed_from timestamptz NOT NULL,
        failed_to timestamptz NOT NULL,
        total integer NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX webhook_recoveries_client_id_idx ON webhook_recoveries (client_id);
      CREATE INDEX webhook_recoveries_endpoint_id_idx ON webhook_recoveries (endpoint_id, id);
      CREATE INDEX webhook_recoveries_created_at_idx ON webhook_recoveries (created_at);

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
    `);
    for (const [name, scope, publisher, description, sample] of EVENT_TYPES) {
      await queryRunner.query(
        'INSERT INTO event_types (name, scope, publisher, description, sample) VALUES ($1, $2, $3, $4, $5)',
        [name, scope, publisher, description, JSON.stringify(sample)],
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION new_delivery_id;
      DROP TABLE webhook_recoveries, webhook_endpoint_hours, delivery_attempts, deliveries, event_idempotency_keys, events,
        webhook_endpoints, event_types;
    `);
  }
}
