import fc from 'fast-check';
import { browserNameOf } from '#access/users/sessions/browser-name.js';
import { ANY_CHARACTER } from '../support/any-character.js';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('the name of a browser', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/137.0.0.0 Safari/537.36`,
      'Chrome on Windows',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/137.0.0.0 Safari/537.36 Edg/137.0.0.0`,
      'Edge on Windows',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/137.0.0.0 Safari/537.36 OPR/120.0.0.0`,
      'Opera on Mac',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on Mac',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/137.0.7151.51 Mobile/15E148 Safari/604.1',
      'Chrome on iPhone',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 14_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148 Safari/605.1.15',
      'Firefox on iPad',
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet on Android',
    ],
    [
      `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/137.0.0.0 Mobile Safari/537.36`,
      'Chrome on Android',
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/137.0.0.0 Safari/537.36`,
      'Chrome on ChromeOS',
    ],
    [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/147.0.0.0 Safari/537.36`, 'Chrome on Linux'],
    ['Something/1.0 (Windows NT 10.0)', 'A browser on Windows'],
    ['Firefox/140.0', 'Firefox'],
    ['curl/8.5.0', 'An unknown browser'],
    ['', 'An unknown browser'],
    [null, 'An unknown browser'],
  ])('for %j is %s', (userAgent, name) => expect(browserNameOf(userAgent)).toBe(name));

  it('is one of a few, whatever the User-Agent contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 400 }), (text) => {
        expect(browserNameOf(`${text} Chrome/1 Linux`)).toMatch(/^[A-Z][A-Za-z ]{3,40}$/);
      }),
    );
  });
});
