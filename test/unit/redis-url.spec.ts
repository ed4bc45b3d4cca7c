import { parseRedisUrl } from '#platform/config/redis-url.js';

describe('a REDIS_URL', () => {
  it.each([
    'redis+sentinel://a:26379,b',
    'redis+sentinel://a/',
    'redis+sentinel://a/name/x',
    'redis+sentinel://a/name?password=x',
    'redis+sentinel://a:0/name',
    'redis+sentinel://a,/name',
    'redis+cluster://a,b/1',
    'redis+cluster://a?x=y',
    'redis+cluster://',
    'redis+other://a',
    'redis+cluster://:%zz@a',
    'redis://a/name',
    'redis://a/0/1',
    'redis://a/1,redis://b',
    'redis://a,redis://b/1',
    'redis://a,rediss://b',
    'rediss://a,redis://b',
  ])('is refused: %s', (url) => expect(() => parseRedisUrl(url)).toThrow());

  it.each(
    Object.entries({
      'redis://:p@a:1/2': { kind: 'server', tls: false, password: 'p' },
      'rediss://a': { kind: 'server', tls: true },
      'redis+sentinel://u:p%40@a,b:5/name/3?sentinel_username=su&sentinel_password=sp': {
        kind: 'sentinel',
        tls: false,
        username: 'u',
        password: 'p@',
        name: 'name',
        db: 3,
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 5 },
        ],
        sentinelUsername: 'su',
        sentinelPassword: 'sp',
      },
      'rediss+sentinel://a/name': { kind: 'sentinel', tls: true, name: 'name', db: 0 },
      'rediss+cluster://:p@[::1]:7,b': {
        kind: 'cluster',
        tls: true,
        password: 'p',
        hosts: [
          { host: '::1', port: 7 },
          { host: 'b', port: 6379 },
        ],
      },
      'redis://:p@a:1,redis://b': {
        kind: 'cluster',
        tls: false,
        password: 'p',
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
      },
    }),
  )('is parsed: %s', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected);
  });
});
