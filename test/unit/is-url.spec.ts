import { isUrl } from '../../src/config/is-url.js';

describe('whether a text is a URL', () => {
  it.each(['https://x.example', 'app:/callback', 'HTTP://[::1]:80/a?b#c'])('says yes to %s', (text) =>
    expect(isUrl(text)).toBe(true),
  );

  it.each(['', '/path', 'x.example', 'https://', 'https://a b.example', 'https://[::1'])(
    'says no to %p',
    (text) => expect(isUrl(text)).toBe(false),
  );

  it('takes a path against a base', () => expect(isUrl('/a', 'https://x.example')).toBe(true));

  it('says the same of letters beyond ASCII however often it is asked, which URL.canParse of Node 20 does not', () => {
    let refused = 0;
    for (let n = 0; n < 50_000; n++) if (!isUrl('https://bücher.example/é')) refused++;
    expect(refused).toBe(0);
  });
});
