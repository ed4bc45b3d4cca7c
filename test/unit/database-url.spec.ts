import { parseDatabaseUrl } from '#platform/config/database-url.js';

describe('a DATABASE_URL', () => {
  it.each([
    'postgres://u:p@a:1,b:0/x',
    'postgres://u:p@a,/x',
    'postgres://u:p@a:5432:1/x',
    'postgres://u:p@a,b/x?port=1,2,3',
    'postgres://u:p@a,b/x?target_session_attrs=standby',
    'postgres://u:p@a,b/x?target_session_attrs=read-only',
    'postgres://u:p@a b/x',
    'postgres://u:%zz@a/x',
    'postgres://u:%ff@a/x',
    'postgres://[::1/x',
    'mysql://a/x',
  ])('is refused without being quoted: %s', (url) => {
    let message = '';
    try {
      parseDatabaseUrl(url);
    } catch (error) {
      message = String(error);
    }
    expect(message).not.toBe('');
    expect(message).not.toContain('u:p');
  });

  it.each([
    ['postgres://u:p@a/x', [['a', undefined]]],
    ['postgresql:///x', [[undefined, undefined]]],
    [
      'postgres://u:p@a:1,b/x?target_session_attrs=read-write',
      [
        ['a', 1],
        ['b', undefined],
      ],
    ],
    [
      'postgres://u:p@[::1]:5,10.0.0.1:6/x?target_session_attrs=primary',
      [
        ['::1', 5],
        ['10.0.0.1', 6],
      ],
    ],
    [
      'postgres:///x?host=a,b&port=1,2',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'postgres://h/x?host=a,b&port=7',
      [
        ['a', 7],
        ['b', 7],
      ],
    ],
    ['postgres://u:p@/x?host=/run/postgresql', [['/run/postgresql', undefined]]],
    ['postgres://u:p@%2Frun%2Fpostgresql:5433/x', [['/run/postgresql', 5433]]],
  ] as [string, [string | undefined, number | undefined][]][])(
    'is parsed into its hosts: %s',
    (url, hosts) => {
      const read = parseDatabaseUrl(url);
      expect(read.hosts.map(({ host, port }) => [host, port])).toEqual(hosts);
      expect(read.config).toMatchObject({ database: 'x' });
      expect(Object.keys(read.config)).not.toEqual(expect.arrayContaining(['host']));
    },
  );

  it('keeps the user, the password and all other parameters', () => {
    const { config } = parseDatabaseUrl(
      'postgres://us%40er:p%2Fa%3As@a:1,b:2/data%20base?sslmode=verify-full',
    );
    expect(config).toMatchObject({ user: 'us@er', password: 'p/a:s', database: 'data base', ssl: {} });
  });
});
