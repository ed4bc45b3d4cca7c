import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import {
  AccountDeletionsService,
  AccountDeletionsWorker,
} from '#access/users/closing/account-deletions.service.js';
import { refresh, type TestClient, useService } from '../support/spec.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { connectionTo } from '../support/test-database.js';
import { listOf } from '../support/list-of.js';

const DAYS = 400;
const DAY_SECONDS = 86_400;

/** Tables whose times move when a day passes. */
const TABLES = listOf(`
  consents, consent_versions, consent_notices, grants, client_secrets, account_deletions, scopes
`);

interface Tokens {
  refresh_token: string;
  refresh_token_expires_in: number;
  authorization_expires_in: number;
}

/** An application that refreshes every so many days, and what it was told. */
interface Application {
  name: string;
  client: TestClient;
  user: UserEntity;
  every: number;
  tokens: Tokens;
  /** By the last token response: the days on which its access ends if nothing else happens. */
  ends: { refresh: number; authorization: number };
  /** The last day on which its secret works, if the rotation said so. */
  secretEnds?: number;
  endedOn?: number;
}

describe(`In ${DAYS} days`, () => {
  const service = useService({ env: { CONSENT_EXPIRY_NOTICE_DAYS: '14' } });
  beforeAll(async () => {
    for (const worker of [ConsentExpiryService, AccountDeletionsWorker])
      await leaveOutSchedule(service, worker);
  });

  it('no access ends by schedule without having been announced', async () => {
    const database = await connectionTo(service);
    let today = 0;
    const known = async (application: Application, tokens: Tokens): Promise<void> => {
      application.tokens = tokens;
      application.ends = {
        refresh: today + tokens.refresh_token_expires_in / DAY_SECONDS,
        authorization: today + tokens.authorization_expires_in / DAY_SECONDS,
      };
    };
    const connect = async (
      name: string,
      every: number,
      days: number | null,
      scopes = ['charging_session:read'],
    ): Promise<Application> => {
      const client = await service.make.client({ name, scopes, consentExpiryDays: days });
      const user = await service.make.user({ name: `Driver of ${name}` });
      await service.database.query(
        `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
         VALUES ('endp' || substr($1, 5), $1, 'http://127.0.0.1:9/', '{user.consent_expiring,user.consent_expired,user.consent_revoked}', '\\x00')`,
        [client.id],
      );
      const application = { name, client, user, every } as Application;
      await known(application, (await service.make.tokens(client, user)) as unknown as Tokens);
      return application;
    };
    const applications = [
      await connect('whose consent runs out', 1, 90),
      await connect('whose consent is renewed', 1, 120),
      await connect('whose consent is for good', 5, null),
      await connect('that is idle', DAYS, null),
      await connect('with a new secret', 1, null),
      await connect('whose driver leaves', 1, null),
      await connect('whose words change', 1, 300, ['vehicle:read']),
    ];
    const [, renewed, , , rotated, left] = applications;

    /** Moves everything a day into the past. */
    const passDay = async (): Promise<void> => {
      today++;
      await database.query('SET session_replication_role = replica');
      for (const table of TABLES) {
        const columns = await service.database.query<{ name: string; array: boolean }>(
          `SELECT column_name AS name, data_type = 'ARRAY' AS array FROM information_schema.columns
            WHERE table_name = $1 AND udt_name IN ('timestamptz', '_timestamptz')`,
          [table],
        );
        const sets = columns.map(({ name, array }) =>
          array
            ? `${name} = ARRAY(SELECT t - interval '1 day' FROM unnest(${name}) WITH ORDINALITY AS a (t, n) ORDER BY n)`
            : `${name} = ${name} - interval '1 day'`,
        );
        await database.query(`UPDATE ${table} SET ${sets.join(', ')}`);
      }
      await database.query('SET session_replication_role = origin');
      // Instances remember what was not announced to have changed.
      await database.query('UPDATE clients SET updated_at = now()');
    };
    const eventsOf = ({ client, user }: Application) =>
      service.database.query<{ type: string; on: Date | null }>(
        `SELECT type, (payload::jsonb -> 'data' ->> 'expires_at')::timestamptz AS on FROM events
          WHERE client_id = $1 AND user_id = $2 ORDER BY id`,
        [client.id, user.id],
      );
    const notificationsOf = ({ user }: Application) =>
      service.database.column<string>('SELECT message_id FROM notifications WHERE user_id = $1', [user.id]);
    /** What the partner or the driver was told before the end. */
    const announcementsOf = async (application: Application): Promise<string[]> => {
      const { ends, endedOn, secretEnds } = application;
      const said = [
        ends.refresh <= endedOn! + 1 && 'refresh_token_expires_in',
        ends.authorization <= endedOn! + 1 && 'authorization_expires_in',
        secretEnds !== undefined && secretEnds <= endedOn! && 'previous_secret_expires_at',
        ...(await eventsOf(application)).map(({ type }) => type === 'user.consent_expiring' && type),
        ...(await notificationsOf(application)).map((id) => id === 'ERR2407' && 'mail to the driver'),
        application === left && 'the driver asked for it',
      ];
      return said.filter((each) => each !== false);
    };

    const unannounced: string[] = [];
    for (let day = 1; day <= DAYS; day++) {
      await passDay();
      if (day === 100) {
        await service.app
          .get(ClientSecretsService)
          .rotate(rotated!.client.id, 7 * DAY_SECONDS, SERVICE_ACTOR);
        // The rotation says so: previous_secret_expires_at.
        rotated!.secretEnds = today + 7;
      }
      if (day === 150) {
        await service.app.get(ScopesService).put(
          {
            name: 'vehicle:read',
            description: 'See your vehicles, and where they are',
            audience: 'partner',
          },
          SERVICE_ACTOR,
          { meaningChanged: true },
        );
      }
      if (day === 200) await service.app.get(AccountDeletionsService).request(left!.user.id, SERVICE_ACTOR);
      await service.app.get(ConsentExpiryService).run();
      await service.app.get(AccountDeletionsService).eraseDue();
      if (day % 50 === 0) await service.app.get(PurgeService).purge();
      // The driver of one of them does what the reminder says.
      if ((await notificationsOf(renewed!)).includes('ERR2407') && renewed!.endedOn === undefined) {
        const browser = await service.make.signedIn(renewed!.user);
        const path = `/account/applications/${renewed!.client.id}/access`;
        await browser.submit(await browser.open(path), path);
        await service.database.query('DELETE FROM notifications WHERE user_id = $1', [renewed!.user.id]);
      }
      for (const application of applications.filter(({ endedOn }) => endedOn === undefined)) {
        const isDue = day % application.every === 0;
        // One that is idle notices the end when it comes.
        const isOver = application.every === DAYS && application.ends.refresh < today;
        if (!isDue && !isOver) continue;
        const answer = await refresh(service.http, application.client, application.tokens.refresh_token);
        if (answer.status === 200) await known(application, answer.json as unknown as Tokens);
        else {
          application.endedOn = today;
          const said = await announcementsOf(application);
          if (said.length === 0) unannounced.push(`${application.name} on day ${today}: ${answer.text}`);
        }
      }
    }
    expect(unannounced).toEqual([]);
    // Each ended when it had to, and the one that was renewed went on for as long as a grant may.
    expect(applications.map(({ name, endedOn }) => [name, endedOn])).toEqual([
      ['whose consent runs out', 90],
      ['whose consent is renewed', expect.any(Number)],
      ['whose consent is for good', expect.any(Number)],
      ['that is idle', 31],
      ['with a new secret', 107],
      ['whose driver leaves', 207],
      ['whose words change', 164],
    ]);
    expect(renewed!.endedOn).toBeGreaterThan(300);
    expect(
      await service.app.get(ConsentsService).findLive(renewed!.client.id, renewed!.user.id),
    ).not.toBeNull();
  });
});
