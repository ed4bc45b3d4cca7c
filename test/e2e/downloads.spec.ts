import { spawnSync } from 'node:child_process';
import { CLI_PACKAGE_PATH } from '#platform/http/server/downloads.js';
import { useSharedService } from '../support/test-service.js';

describe('The program for partners', () => {
  const service = useSharedService();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers });

  it('is refused under any other kind of name', async () => {
    for (const name of [
      '',
      'charging-data.tgz',
      'charging-data-..tgz',
      'other-1.tgz',
      'charging-data-1.tgz/x',
    ])
      expect([name, (await get(`/downloads/${name}`)).status]).toEqual([name, 404]);
  });

  it('is a package with the program alone, at an address that changes with it', async () => {
    const answer = await get(CLI_PACKAGE_PATH);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const { stdout } = spawnSync('tar', ['tz'], { input: bytes, encoding: 'utf8' });
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'package/package.json',
        'package/bin/charging-data.mjs',
        'package/dist/main.js',
      ]),
    );
    expect(stdout).not.toMatch(/src\/|test\/|\.ts\n/);
    expect(CLI_PACKAGE_PATH).toMatch(/^\/downloads\/charging-data-[0-9a-f]{8}\.tgz$/);
    // From an instance of another build, and for people.
    for (const path of ['/downloads/charging-data-01234567.tgz', '/downloads/charging-data-cli.tgz'])
      expect(Buffer.from(await (await get(path)).arrayBuffer()).equals(bytes)).toBe(true);
    const again = await get(CLI_PACKAGE_PATH, { 'if-none-match': answer.headers.get('etag')! });
    expect(again.status).toBe(304);
  });
});
