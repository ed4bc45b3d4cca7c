import fc from 'fast-check';
import { retryAfterMs, textOfBody } from '#events/webhooks/http/response-parts.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const DAY = 86_400_000;

describe('Retry-After', () => {
  it.each([undefined, '', 'soon', '-5', '1.5', '5s', '0x10', '2026-03-01T12:00:10Z', 'Sun, nonsense GMT'])(
    'that cannot be parsed is ignored: %j',
    (text) => expect(retryAfterMs(text, NOW)).toBeUndefined(),
  );

  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['86400', DAY],
    ['86401', DAY],
    ['9'.repeat(400), DAY],
    ['Sun, 01 Mar 2026 12:00:10 GMT', 10_000],
    ['Sunday, 01-Mar-26 12:00:10 GMT', 10_000],
    ['Sun Mar  1 12:00:10 2026', 10_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 01 Mar 2099 12:00:00 GMT', DAY],
  ])('%j is this many milliseconds, at most a day', (text, wait) => {
    expect(retryAfterMs(text, NOW)).toBe(wait);
    expect(retryAfterMs([text, '7'], NOW)).toBe(wait);
  });
});

describe('the start of a body', () => {
  it('is text without NUL and lone surrogates, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = textOfBody(Buffer.from(bytes));
        return text.isWellFormed() && !text.includes('\0');
      }),
    );
  });

  it('omits a truncated last character and keeps all others', () => {
    const bytes = Buffer.from('Zo\u00eb \u{1f697}', 'utf8');
    expect(textOfBody(bytes)).toBe('Zo\u00eb \u{1f697}');
    expect(textOfBody(bytes.subarray(0, -1))).toBe('Zo\u00eb ');
    expect(textOfBody(Buffer.from('a\0b'))).toBe('a\ufffdb');
    expect(textOfBody(Buffer.from([0xff, 0xfe, 0x41]))).toBe('\ufffd\ufffdA');
    expect(textOfBody(Buffer.from('<b>\u202e"\\'))).toBe('<b>\u202e"\\');
  });
});
