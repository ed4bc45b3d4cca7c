import fc from 'fast-check';
import { isUrl } from '#platform/config/is-url.js';
import { isRegisteredRedirectUri, redirectUriViolation } from '#access/clients/redirect-uri.js';
import { apiWords } from '#platform/http/problems/violation.js';
import { ANY_CHARACTER } from '../support/any-character.js';

const redirectUriError = (...of: Parameters<typeof redirectUriViolation>): string | undefined => {
  const found = redirectUriViolation(...of);
  return found && apiWords(found);
};

const REFUSED_FOR_ALL = [
  '',
  ' ',
  'app',
  '/callback',
  'app.example/callback',
  '//app.example/',
  'https:',
  'https://',
  'https:///a',
  'https:app.example/',
  'https:/app.example/',
  'https:\\\\app.example\\',
  'https://app.example/#part',
  'https://app.example/#',
  'https://*.app.example/',
  'https://app.example/*',
  'https://app.example/a b',
  'https://app.example/\t',
  ' https://app.example/',
  'https://app.example/\n',
  'https://caf\u00e9.example/',
  'https://user@app.example/',
  'https://user:password@app.example/',
  'https://app.example:99999/',
  'http://app.example/',
  'http://127.0.0.1.evil.example/',
  'http://localhost.evil.example/',
  'http://0.0.0.0/',
  'http://10.0.0.1/',
  'http://[::]/',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'myapp://callback',
  'ftp://app.example/',
  'about:blank',
  'https://app.example/<script>',
  'https://app.example/"',
];

describe('a redirect URI', () => {
  it.each(REFUSED_FOR_ALL)('is refused at registration: %j', (uri) => {
    for (const type of ['public', 'confidential'] as const)
      expect([type, redirectUriError(uri, type)]).toEqual([type, expect.stringMatching(/^must /)]);
  });

  it('is refused if it is longer than 2,000 characters', () => {
    expect(redirectUriError(`https://app.example/${'x'.repeat(1981)}`, 'public')).toMatch(/2000/);
    expect(redirectUriError(`https://app.example/${'x'.repeat(1980)}`, 'public')).toBeUndefined();
  });

  it('with a private-use scheme is only for public clients', () => {
    for (const uri of ['com.example.app:/callback', 'com.example.app://callback', 'org.example:/oauth?x=1']) {
      expect(redirectUriError(uri, 'confidential')).toMatch(/^must /);
      expect(redirectUriError(uri, 'public')).toBeUndefined();
    }
  });

  it.each([
    'https://app.example',
    'https://app.example/',
    'https://app.example/callback?tenant=1',
    'https://app.example:8443/',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:8080/',
    'http://[::1]/callback',
    'http://localhost:3000/callback',
    'https://192.0.2.1/callback',
    'https://xn--caf-dma.example/',
  ])('can be registered: %s', (uri) => {
    expect(redirectUriError(uri, 'confidential')).toBeUndefined();
    expect(redirectUriError(uri, 'public')).toBeUndefined();
  });

  it('never makes registration throw, and is safe to redirect to if it is accepted', () => {
    const pieces = fc.constantFrom(
      ...['https://', 'http://', 'https:', 'a.b:', 'app.example', '127.0.0.1', 'localhost', '[::1]'],
      ...'/\\@:#*?%x\u00e9\n',
      '..',
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 7 }).map((parts) => parts.join('')),
      fc.webUrl(),
      fc.string({ unit: ANY_CHARACTER }),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('public' as const, 'confidential' as const), (uri, type) => {
        if (redirectUriError(uri, type) !== undefined) return true;
        const { protocol, hostname, hash, username, password } = new URL(uri);
        const isSafe =
          protocol === 'https:' ||
          (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)) ||
          (type === 'public' && protocol.includes('.'));
        return (
          isSafe && hash === '' && !username && !password && /^[\x21-\x7e]+$/.test(uri) && !/[*#\\]/.test(uri)
        );
      }),
      { numRuns: 3000 },
    );
  });

  const REGISTERED = [
    'https://app.example/callback',
    'http://127.0.0.1/cb',
    'http://[::1]:4000/cb',
    'http://localhost:3000/cb',
    'com.example.app:/cb',
  ];

  it.each([
    'https://app.example/callback/',
    'https://app.example/callback?',
    'https://app.example/callback?x=1',
    'https://app.example/Callback',
    'https://APP.example/callback',
    'https://app.example:443/callback',
    'https://app.example/a/../callback',
    'https://app.example/%63allback',
    'https://app.example.evil.example/callback',
    'http://app.example/callback',
    'https://app.example/callback#',
    ' https://app.example/callback',
    '',
    'http://127.0.0.1/other',
    'https://127.0.0.1/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1@evil.example/cb',
    'http://127.0.0.1:80@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:8080\\@evil.example/cb',
    'http://127.0.0.2/cb',
    'http://127.0.0.1:80:80/cb',
    'http://127.0.0.1:-1/cb',
    'http://localhost:3001/cb',
    'http://localhost/cb',
    'http://[::1]:4000/cb?x',
    'com.example.app:8080/cb',
    'com.example.app://cb',
    'HTTPS://app.example/callback',
    'https://app.example//callback',
    'https://app.example/callback ',
    'https://app.example/callback\n',
    'https://app.example/callback%00',
    '//app.example/callback',
    'https://app.example@evil.example/callback',
    'https://evil.example\\@app.example/callback',
    '/callback',
    'javascript:alert(1)//https://app.example/callback',
    'http://127.0.0.1:49152/cb/',
    'http://127.0.0.1:49152/cb?x=1',
    'http://127.0.0.1:49152/cb#x',
    'http://127.0.0.1:49152/CB',
    'http://127.1:49152/cb',
    'http://2130706433/cb',
    'http://[0:0:0:0:0:0:0:1]:4000/cb',
    'http://[::ffff:127.0.0.1]:4000/cb',
    'http://127.0.0.1:http/cb',
    'http://user@127.0.0.1/cb',
    'com.example.app:/cb/',
    'com.example.app.evil:/cb',
  ])('does not match a registered one that it only resembles: %j', (uri) => {
    expect(isRegisteredRedirectUri(uri, REGISTERED)).toBe(false);
  });

  it.each([
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb',
    'http://[::1]:51234/cb',
    ...REGISTERED,
  ])('matches a registered one exactly, or with another port of a loopback address: %s', (uri) =>
    expect(isRegisteredRedirectUri(uri, REGISTERED)).toBe(true),
  );

  it('with another host than the registered ones never matches', () => {
    const text = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc
        .tuple(
          fc.constantFrom(...REGISTERED),
          fc.nat(40),
          fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
        )
        .map(([uri, at, insert]) => uri.slice(0, at) + insert + uri.slice(at)),
    );
    const hosts = REGISTERED.map((uri) => new URL(uri).hostname);
    fc.assert(
      fc.property(text, (uri) => {
        if (!isRegisteredRedirectUri(uri, REGISTERED)) return true;
        return isUrl(uri) && hosts.includes(new URL(uri).hostname) && new URL(uri).username === '';
      }),
      { numRuns: 3000 },
    );
  });
});
