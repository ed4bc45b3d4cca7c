import fc from 'fast-check';
import { useSharedService } from '../support/test-service.js';
import { headerText, urlText } from './support/odd-text.js';
import { statusesAfter } from './support/raw-bytes.js';
import { alwaysAsync, patience } from './support/runs.js';

const FORM = 'application/x-www-form-urlencoded';

/** The start of a request, usually valid. */
const requestLine = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        'GET',
        'POST',
        'HEAD',
        'DELETE',
        'OPTIONS',
        'PRI',
        'get',
        '',
        'GET\0',
        'M-SEARCH',
        'CONNECT',
      ),
      headerText(),
    ),
    fc.constantFrom(' ', '  ', '\t', ''),
    fc.oneof(
      fc.constantFrom('/', '/o/token', '/v2/users', '*', 'http://evil.example/', '//', 'a:80', '/login?', ''),
      urlText(),
    ),
    fc.constantFrom(
      ' HTTP/1.1',
      ' HTTP/1.1',
      ' HTTP/1.0',
      ' HTTP/2.0',
      ' HTTP/0.9',
      ' HTTP/1.1 x',
      '',
      ' http/1.1',
    ),
    fc.constantFrom('\r\n', '\r\n', '\n', '\r', ''),
  )
  .map((parts) => parts.join(''));

const HEADERS = [
  'Host: a.example',
  'Host:',
  'Host: a\r\nHost: b',
  'Connection: close',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c\r\nHTTP2-Settings: x\r\nConnection: Upgrade',
  'Expect: 100-continue',
  'Expect: x',
  'TE: trailers',
  'Content-Length: 3',
  'Content-Length: -1',
  'Content-Length: 3, 3',
  'Content-Length: 99999999999999999999',
  'Content-Length: 0x3',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: x',
  `Content-Type: ${FORM}`,
  'Content-Type: application/json',
  'Trailer: x',
  ' folded: x',
  'no colon',
  ': no name',
  'a b: c',
  'x:\0',
  'Authorization: Bearer x',
  'Authorization: Basic Og==',
  'Cookie: cds_session=x',
  'X: y\nZ: w',
  'X:\r y',
];
const headers = fc
  .array(
    fc.oneof(
      fc.constantFrom(...HEADERS),
      fc.tuple(headerText(), headerText()).map(([name, value]) => `${name}: ${value}`),
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.map((line) => `${line}\r\n`).join(''));

/** A body, or something else where the next request should begin. */
const rest = fc
  .array(
    fc.constantFrom(
      'a=b',
      '3\r\na=b\r\n',
      '0\r\n\r\n',
      '-1\r\n',
      'fffffffffffffffff\r\n',
      'zz\r\n',
      '3;x="\r\na=b\r\n',
      '0\r\nX: y\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      '\0',
      '\r\n',
      'x'.repeat(70_000),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));

const request = fc
  .tuple(requestLine, headers, fc.constantFrom('\r\n', '\r\n', '\n', ''), rest)
  .map((parts) => parts.join(''));
const bytes = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(request, { minLength: 1, maxLength: 3 })
      .map((each) => Buffer.from(each.join(''), 'latin1')),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2000 }).map((each) => Buffer.from(each)) },
);

describe('Bytes that no HTTP client sends', () => {
  const service = useSharedService();

  const isWell = async () => {
    const { status } = await service.http.get('/health/ready');
    expect([status, service.log.filter((line) => /^\{"level":"(error|fatal)"/.test(line))]).toEqual([
      200,
      [],
    ]);
  };

  it(
    'are refused, answered or ignored, without a hang or an error',
    async () => {
      await alwaysAsync(
        fc.asyncProperty(bytes, async (sent) => {
          return (await statusesAfter(service.url, sent)).every((status) => status >= 100 && status < 500);
        }),
        50,
      );
      await isWell();
    },
    600_000 * patience(50),
  );

  it.each([
    ['many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(10_000)}\r\n`],
    ['one endless header', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(1_000_000)}`],
    ['an endless address', `GET /${'x'.repeat(1_000_000)}`],
    ['a header of many lines', `GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n${' z\r\n'.repeat(10_000)}\r\n`],
  ])('are refused as soon as there are too many of them: %s', async (_name, text) => {
    expect([[431], [400], []]).toContainEqual(await statusesAfter(service.url, Buffer.from(text)));
    await isWell();
  });

  it('in endless chunks are refused once they exceed the limit of a body', async () => {
    const head = `POST /o/token HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const chunk of ['1\r\na\r\n', '1;ext=x\r\na\r\n', '2000\r\n' + 'x'.repeat(0x2000) + '\r\n']) {
      const statuses = await statusesAfter(
        service.url,
        Buffer.from(head + chunk.repeat(Math.ceil(1_000_000 / chunk.length))),
      );
      expect([[413], [400], []]).toContainEqual(statuses);
    }
    await isWell();
  });
});
