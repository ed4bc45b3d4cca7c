import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { useSharedService, WEBHOOK_ENV } from '../support/spec.js';

interface Exit {
  code: number;
  out: string;
  err: string;
}

describe('A client generated from the served OpenAPI documents', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let folder: string;
  const generated: Exit[] = [];
  let compiled: Exit;

  /** Does what a partner does: in a project of its own, generates types from the documents and compiles test/sdk against them. */
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-sdk-'));
    await cp('test/sdk', folder, { recursive: true });
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
    for (const [address, types] of [
      ['/openapi.json', 'api.ts'],
      ['/openapi/operators.json', 'operators-api.ts'],
    ] as const) {
      await writeFile(path.join(folder, 'openapi.json'), (await service.http.get(address)).text);
      const exit = await node([
        'node_modules/openapi-typescript/bin/cli.js',
        'openapi.json',
        '--output',
        types,
      ]);
      generated.push(exit);
    }
    compiled = await node(['node_modules/typescript-native/bin/tsc']);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs a Node.js program in the project until it exits. */
  const node = (args: string[], settings: Record<string, string> = {}) =>
    new Promise<Exit>((resolve) => {
      const env = { PATH: process.env.PATH, ...settings };
      execFile(process.execPath, args, { cwd: folder, env }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });

  it('compiles under strict, and refuses every wrong name of test/sdk/mistakes.ts', () => {
    expect(generated).toMatchObject([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    expect(compiled).toEqual({ code: 0, out: '', err: '' });
  });

  it('makes the calls of an operator and a partner, and tells events apart by their type', async () => {
    const { id, secret } = await service.make.operatorClient();
    const settings = { BASE_URL: service.url, CLIENT_ID: id, CLIENT_SECRET: secret };
    const { out, ...exit } = await node(['partner.js'], settings);
    expect(exit).toEqual({ code: 0, err: '' });
    const { ids, ...seen } = JSON.parse(out) as { ids: Record<string, string> };
    const scopes = ['charging_session:read', 'vehicle:read'];
    expect(seen).toEqual({
      users: [{ id: ids.user_id, scopes }],
      portal: expect.stringMatching(`^${service.url}/portal`),
      events: [
        'charging_session.ended: 11.5 kWh',
        'user.consent_granted: charging_session:read vehicle:read',
        'vehicle.updated: EXAMPLE MOTORS',
      ],
      refusal: [401, 'Unauthorized'],
      changed: { name: 'Route planner', rate_limit: 50 },
      deleted: 204,
      missing: [404, 'Not found'],
    });
    const kept = await service.database.query('SELECT id FROM clients WHERE id = $1', [ids.client_id]);
    expect(kept).toEqual([]);
  });
});
