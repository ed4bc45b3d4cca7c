import type { EntityManager } from 'typeorm';
import { EVERYBODY } from '#records/activity/activity.js';
import { HOUR_MS } from '#platform/config/durations.js';
import { newUlid } from '#platform/secrets/ids.js';

/** How many requests of a client are kept (contract §20). */
const KEPT = 200;

/** A request as the service would have logged and counted it. */
interface DemoRequest {
  clientId: string;
  time: number;
  method: string;
  route: string;
  status: number;
  error: string | null;
  /** What it is counted as beside being a request. */
  kind?: 'token_issued' | 'token_refused' | 'bearer_refused';
  detail?: string;
}

/** Whether it is in the log of the client, too. */
type CountedRequest = DemoRequest & { isLogged: boolean };

type Kind = Omit<DemoRequest, 'time' | 'clientId'> & {
  /** How many there are for each event in the hour. */
  share: number;
  /** How many there are in any hour beside those. */
  hourly?: number;
};

/** A client and what it asks for. */
export interface DemoProgram {
  clientId: string;
  kinds: readonly Kind[];
  /** Since then it is refused: it sends a secret that has expired. */
  expiredAt?: Date;
}

const get = (route: string, share: number): Kind => ({
  method: 'GET',
  route,
  status: 200,
  error: null,
  share,
});
const token = (detail: string, share: number): Kind => ({
  ...{ method: 'POST', route: '/o/token', status: 200, error: null },
  ...{ kind: 'token_issued', detail, share },
});

/** A dozen drivers whose tokens are refreshed when they are needed, and a program that reads what is new. */
export const SMART_CHARGING: readonly Kind[] = [
  { ...get('/v2/events', 2), hourly: 2 },
  get('/v2/users', 0.6),
  get('/v2/users/me', 0.8),
  get('/notifications', 0.2),
  token('refresh_token', 0.8),
  token('client_credentials', 0.1),
  token('authorization_code', 0.05),
  {
    ...{ method: 'POST', route: '/o/token', status: 400, error: 'invalid_grant', share: 0.02 },
    ...{ kind: 'token_refused', detail: 'refresh_token_expired' },
  },
  {
    ...{ method: 'GET', route: '/v2/users/me', status: 401, error: null, share: 0.04 },
    ...{ kind: 'bearer_refused', detail: 'token_expired' },
  },
];

/** A program that looks once an hour which users there are. */
export const PLANNER: readonly Kind[] = [
  { ...get('/v2/users', 0), hourly: 1 },
  { ...token('client_credentials', 0), hourly: 1 },
];

/**
 * Inserts the clients' last requests and what was counted of all: both are made of the same requests, so that log, usage, refusals and
 * the operators' overview agree. Logins are counted in total only.
 */
export async function insertRequests(
  manager: EntityManager,
  programs: readonly DemoProgram[],
  { events, hours }: { events: readonly Date[]; hours: number },
): Promise<void> {
  const eventsIn = new Map<number, number>();
  for (const time of events) {
    const hour = Math.floor(time.getTime() / HOUR_MS);
    eventsIn.set(hour, (eventsIn.get(hour) ?? 0) + 1);
  }
  const made = programs.map((program) =>
    makeRequests(program, hours, (hour) => eventsIn.get(Math.floor(hour / HOUR_MS)) ?? 0),
  );
  const kept = made.flatMap((requests) => requests.filter(({ isLogged }) => isLogged).slice(-KEPT));
  await manager.query(
    `INSERT INTO client_requests (client_id, occurred_at, method, route, status, error, request_id, milliseconds, injected)
     SELECT client_id, to_timestamp(ms / 1000.0), method, route, status, error, request_id, 3 + random() * 20, false
       FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[])
              AS r (client_id, ms, method, route, status, error, request_id)`,
    [
      kept.map(({ clientId }) => clientId),
      kept.map(({ time }) => time),
      kept.map(({ method }) => method),
      kept.map(({ route }) => route),
      kept.map(({ status }) => status),
      kept.map(({ error }) => error),
      kept.map(() => newUlid()),
    ],
  );
  const counted = made
    .flat()
    .flatMap(({ clientId, time, route, kind, detail, isLogged }) => [
      ...(isLogged
        ? [{ clientId, time, kind: 'request', detail: route.startsWith('/o/') ? 'oauth' : 'api' }]
        : []),
      ...(kind ? [{ clientId, time, kind, detail: detail! }] : []),
    ]);
  await manager.query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT who, date_trunc('hour', at, 'UTC'), kind, detail, count(*), max(at)
       FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) AS c (client_id, ms, kind, detail),
            to_timestamp(ms / 1000.0) AS at, unnest(ARRAY[client_id, $1]) AS who
      GROUP BY 1, 2, 3, 4`,
    [
      EVERYBODY,
      counted.map(({ clientId }) => clientId),
      counted.map(({ time }) => time),
      counted.map(({ kind }) => kind),
      counted.map(({ detail }) => detail),
    ],
  );
  await manager.query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT $1, hour, kind, 'password', greatest(1, round(usual * (0.6 + 0.8 * random())))::bigint, hour + interval '50 minutes'
       FROM generate_series(date_trunc('hour', now(), 'UTC') - make_interval(hours => $2),
                            date_trunc('hour', now(), 'UTC') - interval '1 hour', interval '1 hour') AS hour,
            (VALUES ('sign_in', 3, 0.8), ('sign_in_refused', 1, 0.3)) AS usually (kind, usual, share)
      -- The hour stands in it so that it is thrown for each hour anew.
      WHERE random() + 0 * extract(epoch FROM hour) < share`,
    [EVERYBODY, hours],
  );
}

/** The requests of the past hours, oldest first. Whose sender did not prove to be the client, those are counted and not logged. */
function makeRequests(
  { clientId, kinds, expiredAt }: DemoProgram,
  hours: number,
  eventsIn: (hour: number) => number,
): CountedRequest[] {
  const now = Date.now();
  const thisHour = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from({ length: hours + 1 }, (_hour, n) => thisHour - (hours - n) * HOUR_MS)
    .flatMap((hour) => kinds.flatMap((kind) => inHour(kind, hour, eventsIn(hour))))
    .filter(({ time }) => time < now)
    .sort((one, other) => one.time - other.time)
    .flatMap((request): CountedRequest[] => {
      if (!expiredAt || request.time < expiredAt.getTime()) return [{ ...request, clientId, isLogged: true }];
      // Without a token, it has nothing to ask for.
      if (request.route !== '/o/token') return [];
      return [{ ...request, clientId, ...EXPIRED, isLogged: false }];
    });
}

const EXPIRED = {
  status: 401,
  error: 'invalid_client',
  kind: 'token_refused',
  detail: 'expired_secret',
} as const;

function inHour({ share, hourly = 0, ...request }: Kind, hour: number, events: number) {
  const usual = hourly + events * share * (0.7 + 0.6 * Math.random());
  // A share of one is one hour in so many.
  const count = Math.floor(usual) + (Math.random() < usual % 1 ? 1 : 0);
  return Array.from({ length: count }, () => ({
    ...request,
    time: hour + Math.floor(Math.random() * HOUR_MS),
  }));
}
