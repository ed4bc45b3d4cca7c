import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { keptWords } from '#access/consents/record/consent-words.js';
import { choicePageText } from '#access/consents/record/consent-page-text.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { PARTNER_SCOPES } from './factory.js';
import { receiptOf } from './receipts.js';
import type { TestService } from './test-service.js';
import { withoutTriggers } from './without-triggers.js';

const scopes = fc.subarray(PARTNER_SCOPES, { minLength: 1 });
const STEP = fc.oneof(
  fc.record({ do: fc.constant('approve' as const), scopes }),
  fc.record({ do: fc.constant('record' as const), scopes }),
  fc.record({ do: fc.constant('choose' as const), scopes }),
  fc.record({ do: fc.constant('withdraw' as const) }),
  fc.record({ do: fc.constant('revoke' as const) }),
  fc.record({ do: fc.constant('expire' as const) }),
);
/** What happens to a consent, from the first yes on. */
export const HISTORY = fc.array(STEP, { minLength: 1, maxLength: 8 });
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

/** What the record must say of a step. */
interface Said {
  event: string;
  shares: string[];
  how: string;
}

/** Performs a history, and returns what a record of it must say: told by the steps, not by the service. */
export async function perform(
  service: TestService,
  client: ClientEntity,
  userId: string,
  history: Step[],
): Promise<Said[]> {
  const consents = service.app.get(ConsentsService);
  const given = service.app.get(ConsentApprovals);
  const words = keptWords(
    choicePageText({
      language: 'en',
      application: client.name,
      organisation: null,
      access: [],
      purposes: [],
      expiryDays: null,
    }),
  );
  const actor = { type: 'user', id: userId } as const;
  const said: Said[] = [];
  let shares: string[] = [];
  for (const step of history) {
    const isLive = shares.length > 0;
    const say = (how: string, now: string[]) => {
      said.push({ event: now.length === 0 ? 'ended' : isLive ? 'changed' : 'given', shares: now, how });
      shares = now;
    };
    switch (step.do) {
      case 'approve':
        await service.app
          .get(Transactions)
          .run(() =>
            given.approve(
              client,
              userId,
              { scopes: step.scopes, meanings: [], method: 'page', words },
              actor,
            ),
          );
        say('page', [...new Set([...shares, ...step.scopes])].sort());
        break;
      case 'record':
        await given.record(client.id, userId, step.scopes, null, SERVICE_ACTOR);
        say('operator', step.scopes);
        break;
      case 'choose':
        if (isLive) {
          await given.choose(client, userId, { scopes: step.scopes, meanings: [], words }, actor);
          say('account', step.scopes);
        }
        break;
      case 'withdraw':
        if (isLive) {
          await consents.withdraw(client.id, userId, actor);
          say('withdrawn', []);
        }
        break;
      case 'revoke':
        if (isLive) {
          await consents.revoke(client.id, userId, SERVICE_ACTOR);
          say('revoked_by_operator', []);
        }
        break;
      case 'expire':
        if (isLive) {
          await withoutTriggers(service.database, () =>
            service.database.query(
              "UPDATE consents SET expires_at = now() - interval '1 second' WHERE client_id = $1 AND user_id = $2",
              [client.id, userId],
            ),
          );
          await consents.expire(client.id, userId);
          say('expired', []);
        }
    }
  }
  return said;
}

/** What the program of docs/consent-receipts.md makes of rows or receipts: what it says of each user, or why it refuses. */
export async function rebuilt(
  service: TestService,
  from: 'rows' | 'receipts',
  tamper: (lines: string[]) => string[] = (lines) => lines,
): Promise<Map<string, Said[]> | string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'charging-histories-'));
  try {
    const program = path.join(folder, 'history.mjs');
    writeFileSync(program, programIn('history.mjs'));
    const lines = from === 'rows' ? await rowsOf(service) : await receiptsOf(service);
    // The first receipt makes the key.
    const keys = path.join(folder, 'jwks.json');
    writeFileSync(keys, (await service.http.get('/.well-known/consent-receipts/jwks.json')).text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, keys], {
      input: tamper(lines).join('\n'),
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    });
    if (status !== 0) return stderr;
    const found = stdout.split('\n').filter(Boolean);
    return new Map(
      found.map((line) => {
        const { user_id, history } = JSON.parse(line) as {
          user_id: string;
          history: (Said & { at: string })[];
        };
        return [user_id, history.map(({ event, shares, how }) => ({ event, shares, how }))];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program as docs/consent-receipts.md shows it. */
function programIn(file: string): string {
  const page = readFileSync('docs/consent-receipts.md', 'utf8');
  return new RegExp(`\`\`\`js file=${file.replace('.', '\\.')}\n([\\s\\S]*?)\n\`\`\``).exec(page)![1]!;
}

const rowsOf = async (service: TestService): Promise<string[]> =>
  (
    await service.database.query<{ line: string }>(
      'SELECT row_to_json(v)::text AS line FROM consent_versions v ORDER BY client_id, user_id, number',
    )
  ).map(({ line }) => line);

/** As their users download them. */
async function receiptsOf(service: TestService): Promise<string[]> {
  const users = await service.database.query<{ id: string; email: string; versions: string[] }>(
    `SELECT u.id, u.email, array_agg(v.id::text ORDER BY v.id) AS versions
       FROM users u JOIN consent_versions v ON v.user_id = u.id GROUP BY u.id ORDER BY u.id`,
  );
  const lines: string[] = [];
  for (const { versions, ...user } of users) {
    const browser = await service.make.signedIn(user);
    for (const id of versions) lines.push(JSON.stringify(await receiptOf(browser, id)));
  }
  return lines;
}
