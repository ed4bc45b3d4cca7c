import { isUrl } from '#platform/config/is-url.js';

describe('isUrl', () => {
  it.each(['https://x.example', 'app:/callback', 'HTTP://[::1]:80/a?b#c'])('accepts %s', (text) =>
    expect(isUrl(text)).toBe(true),
  );

  it.each(['', '/path', 'x.example', 'https://', 'https://a b.example', 'https://[::1'])(
    'refuses %p',
    (text) => expect(isUrl(text)).toBe(false),
  );

  it('accepts a path with a base', () => expect(isUrl('/a', 'https://x.example')).toBe(true));

  it('gives the same result for non-ASCII letters on every call, unlike URL.canParse of Node 20', () => {
    let refused = 0;
    for (let n = 0; n < 50_000; n++) if (!isUrl('https://bücher.example/é')) refused++;
    expect(refused).toBe(0);
  });
});
