/**
 * The wall: the lower bound for any service on Node.js. Bare `node:http` that parses the request, computes the digest of a secret
 * or the MAC of a token, and answers from memory: it stores nothing, queries no database and cannot revoke anything.
 */
import { basicOf, bearerOf, formOf, Refused, serve, tokenAnswer } from './bare-http.mjs';
import { authenticate, findToken, introspected, numberOf, usersOf } from './wall-memory.mjs';
import { newWallToken } from './wall-tokens.mjs';

serve({
  'POST /o/token': async (request) => {
    const form = await formOf(request);
    const client = authenticate(...basicOf(request));
    if (form.get('grant_type') !== 'client_credentials') throw new Refused(400);
    return tokenAnswer(newWallToken({ client: numberOf(client.id) }), client.scopes);
  },
  'POST /o/introspect/': async (request) => {
    const form = await formOf(request);
    authenticate(...basicOf(request));
    return introspected(form.get('token'));
  },
  'GET /v2/users': (request) => usersOf(findToken(bearerOf(request))),
  'GET /health/ready': () => ({}),
});
