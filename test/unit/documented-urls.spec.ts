import { readFileSync } from 'node:fs';
import { parseDatabaseUrl } from '#platform/config/database-url.js';
import { parseRedisUrl } from '#platform/config/redis-url.js';

const guide = readFileSync('docs/deployment.md', 'utf8');
/** The rows of a table that begin with a URL of one of the schemes, without the marks around it. */
const formsOf = (scheme: RegExp): string[] =>
  [...guide.matchAll(/^\| `([^`]+)`/gm)].map(([, form]) => form!).filter((form) => scheme.test(form));

describe('The guide to deployment', () => {
  it('shows forms of DATABASE_URL for one host, several hosts and a socket, and each is accepted', () => {
    const forms = formsOf(/^postgres:/);
    for (const form of forms) expect(() => parseDatabaseUrl(form)).not.toThrow();
    expect(forms.map((form) => [/,/.test(form), /\?host=\//.test(form)])).toEqual([
      [false, false],
      [true, false],
      [false, true],
    ]);
  });

  it('shows forms of REDIS_URL for a server, sentinels and a cluster, and each is accepted', () => {
    expect(formsOf(/^redis/).map((form) => parseRedisUrl(form).kind)).toEqual([
      'server',
      'sentinel',
      'cluster',
    ]);
  });

  it('says how the certificate of the database is checked', () => {
    expect(guide).toContain('sslmode=verify-full');
    expect(guide).toContain('sslrootcert');
  });
});
