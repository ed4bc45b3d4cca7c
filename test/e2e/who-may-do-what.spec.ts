import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { committedDocument } from '../support/openapi-document.js';
import { useSharedService } from '../support/test-service.js';

const GUIDE = path.join(process.cwd(), 'docs/operators.md');
const HEAD = '| Route | viewer | support | admin | company service | former operator | `FOUR_EYES` |';

interface Operation {
  method: string;
  path: string;
  waits: boolean;
}

const OPERATIONS: Operation[] = Object.entries(committedDocument.paths)
  .filter(([at]) => at.startsWith('/admin/'))
  .flatMap(([at, methods]) =>
    Object.entries(methods as Record<string, { responses: Record<string, { content?: object }> }>).map(
      ([method, { responses }]) => ({
        method: method.toUpperCase(),
        path: at,
        waits: JSON.stringify(responses['202'] ?? {}).includes('/Approval'),
      }),
    ),
  );

const PREFIXES: Record<string, string> = {
  users: 'user',
  grants: 'grnt',
  deliveries: 'dlvr',
  webhook_endpoints: 'endp',
  approvals: 'appr',
  redirect_uri_requests: 'ruri',
  operator_invitations: 'mbiv',
};
const NAMED: Record<string, string> = { client_id: 'clnt', user_id: 'user' };

describe('The table of who may use which route of the admin API, in docs/operators.md,', () => {
  const service = useSharedService();
  const bearers: Record<string, string> = {};

  beforeAll(async () => {
    await service.make.user({ role: 'operator' });
    for (const operatorRole of ['viewer', 'support', 'admin'] as const)
      bearers[operatorRole] = await bearerOf(await service.make.user({ role: 'operator', operatorRole }));
    bearers.company = await service.make.adminToken();
    const former = await service.make.user({ role: 'operator' });
    bearers.former = await bearerOf(former);
    expect((await service.http.get('/admin/users', { bearer: bearers.former })).status).toBe(200);
    await service.make.setRole(former, { role: 'user' });
  });

  const bearerOf = (owner: UserEntity): Promise<string> =>
    service.make.adminToken(['admin:read', 'admin:write'], owner);
  /** The path with ids of nothing, so that nothing is changed by what is admitted. */
  const fill = (at: string): string =>
    at.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === 'name' ? 'no:such' : `${NAMED[name] ?? PREFIXES[at.split('/')[2]!]}01HN2NJ9NMRZBXT1H6FT9N7735`,
    );
  const cell = async ({ method, path: at }: Operation, who: string): Promise<string> => {
    const json = ['POST', 'PUT', 'PATCH'].includes(method) ? { json: { unknown: 1 } } : {};
    const { status } = await service.http.send(fill(at), { method, bearer: bearers[who], ...json });
    return status === 401 || status === 403 ? String(status) : 'yes';
  };

  it('says what the service does, for every route', async () => {
    const rows: string[] = [];
    for (const operation of OPERATIONS) {
      const cells = [`\`${operation.method} ${operation.path}\``];
      for (const who of ['viewer', 'support', 'admin', 'company', 'former'])
        cells.push(await cell(operation, who));
      rows.push(`| ${[...cells, operation.waits ? 'waits' : ''].join(' | ')} |`.replaceAll('|  |', '| |'));
    }
    const lines = readFileSync(GUIDE, 'utf8').split('\n');
    const from = lines.indexOf(HEAD);
    expect(from).toBeGreaterThan(0);
    const table = lines.slice(from + 2, lines.indexOf('', from));
    if (process.env.SHOW_TABLE) process.stdout.write(`${rows.join('\n')}\n`);
    expect(table).toEqual(rows);
  });
});
