import { createServer } from 'node:http';

/** Ends a request with the given status. */
export class Refused extends Error {
  constructor(status) {
    super();
    this.status = status;
  }
}

/**
 * A bare `node:http` server on the port given in the environment. `routes` maps a method and path to a function that returns the
 * response, an object or a promise of one. Stops at SIGTERM, then runs `afterwards`.
 */
export function serve(routes, afterwards = () => undefined) {
  const server = createServer((request, response) => {
    Promise.resolve()
      .then(() => routes[`${request.method} ${request.url}`](request))
      .then(
        (content) => answer(response, 200, content),
        (error) => answer(response, error.status ?? 500, { error: error.message }),
      );
  });
  server.listen(Number(process.env.PORT), '127.0.0.1');
  process.once('SIGTERM', () => {
    server.close(() => void afterwards());
    server.closeAllConnections();
  });
}

export function bearerOf(request) {
  return request.headers.authorization.slice('Bearer '.length);
}

/** The two parts of HTTP Basic (RFC 6749 §2.3.1). */
export function basicOf(request) {
  const text = Buffer.from(request.headers.authorization.slice('Basic '.length), 'base64').toString();
  const colon = text.indexOf(':');
  return [decodeURIComponent(text.slice(0, colon)), decodeURIComponent(text.slice(colon + 1))];
}

export const formOf = async (request) => new URLSearchParams(await textOf(request));

export function textOf(request) {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}

/** The response of a token endpoint (RFC 6749 §5.1). */
export function tokenAnswer(accessToken, scopes) {
  return { access_token: accessToken, expires_in: 36_000, token_type: 'Bearer', scope: scopes.join(' ') };
}

function answer(response, status, content) {
  const body = JSON.stringify(content);
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(body);
}
