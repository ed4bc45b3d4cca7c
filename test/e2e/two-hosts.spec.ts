import { sendRaw } from '../support/raw-http.js';
import { useSharedService } from '../support/test-service.js';

describe('A request with more than one Host header', () => {
  const service = useSharedService();

  const send = (requestLine: string, ...lines: string[]) =>
    sendRaw(service.url, `${requestLine} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);

  it.each([
    ['on a page', 'GET /login', ['Host: one.example', 'Host: two.example']],
    ['of the same value', 'GET /health/live', ['Host: one.example', 'Host: one.example']],
    ['in another case', 'GET /v2/users', ['Host: one.example', 'hOsT: two.example']],
    ['for an asset', 'GET /assets/app.css', ['Host: one.example', 'Accept: */*', 'HOST: one.example']],
    ['at an unknown address', 'GET /nowhere', ['Host: one.example', 'Host: two.example']],
    [
      'for a preflight',
      'OPTIONS /o/token',
      [
        'Host: one.example',
        'Origin: https://a.example',
        'Access-Control-Request-Method: POST',
        'Host: two.example',
      ],
    ],
    ['for a token', 'POST /o/token', ['Host: one.example', 'Host: two.example', 'Content-Length: 0']],
  ])('is refused %s (RFC 9112 §3.2)', async (_what, requestLine, lines) => {
    const answer = await send(requestLine, ...lines);
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([400, expect.stringMatching(/./)]);
    expect(answer.text).toContain('Host');
  });

  it('is told from one whose other headers name hosts', async () => {
    expect((await send('GET /health/live', 'Host: one.example', 'X-Host: two.example')).status).toBe(200);
  });
});

describe('A request without a Host header', () => {
  const service = useSharedService();

  const send = (request: string) => sendRaw(service.url, `${request}\r\nConnection: close\r\n\r\n`);

  it.each(['GET /login', 'GET /health/live', 'POST /o/token', 'GET /nowhere', 'GET http://a.example/login'])(
    'is refused: %s (RFC 9112 §3.2)',
    async (requestLine) => {
      const answer = await send(`${requestLine} HTTP/1.1`);
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([400, expect.stringMatching(/./)]);
      expect(answer.text).toContain('Host');
    },
  );

  it('is served in HTTP/1.0, which has none', async () => {
    expect((await send('GET /health/live HTTP/1.0')).status).toBe(200);
  });
});
