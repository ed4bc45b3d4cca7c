/**
 * What it costs that a token is bound to a key (RFC 9449): the same requests with and without a proof, in turns, over one service. The load
 * signs the proofs on its own core. After `npm run build`:
 *
 *   node bench/dpop.mjs [--rounds 10]
 */
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startDatabase } from './database.mjs';
import { basic, expect, get, post } from './http-text.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { loadOnce, median } from './measure.mjs';
import { startService } from './servers.mjs';
import { makeSetting } from './setting.mjs';

const WARM_UP_SECONDS = 6;
const SECONDS = 2;
const TOKEN = '/o/token';
const USERS = '/v2/users';
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });

/** A key that makes proofs for requests to this service. */
class Key {
  constructor(url) {
    this.url = url;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.key = { key: privateKey, dsaEncoding: 'ieee-p1363' };
    this.head = this.encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) });
  }

  encode(part) {
    return Buffer.from(JSON.stringify(part)).toString('base64url');
  }

  proof(htm, path, token) {
    const ath = token && createHash('sha256').update(token).digest('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const [htu] = (this.url + path).split('?');
    const signed = `${this.head}.${this.encode({ jti: randomUUID(), htm, htu, iat, ath })}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), this.key).toString('base64url')}`;
  }
}

const withProof = (request, proof) => request.replace('\r\nhost:', `\r\ndpop: ${proof}\r\nhost:`);
const isOk = (status) => expect(status === 200, 'status');

/** The requests by workload and kind; each kind makes the text of the nth request of a client. */
async function requestsOf({ clients, clientTokens }, service) {
  const form = 'grant_type=client_credentials';
  const keys = clients.map(() => new Key(service.url));
  const bound = await Promise.all(
    clients.map(async (client, n) => {
      const answer = await fetch(service.url + TOKEN, {
        method: 'POST',
        headers: { authorization: basic(client), dpop: keys[n].proof('POST', TOKEN) },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      return (await answer.json()).access_token;
    }),
  );
  return {
    W1: {
      Bearer: (n) => post(TOKEN, basic(clients[n]), form),
      DPoP: (n) => withProof(post(TOKEN, basic(clients[n]), form), keys[n].proof('POST', TOKEN)),
    },
    W2c: {
      Bearer: (n) => get(USERS, clientTokens[n].ours),
      DPoP: (n) =>
        withProof(get(USERS, bound[n]), keys[n].proof('GET', USERS, bound[n])).replace('Bearer', 'DPoP'),
    },
  };
}

process.stdout.write(`${machine()}\n`);
if (PINNING.possible) pinSelf(CORES.load);
const database = await startDatabase();
let service;
try {
  const setting = await makeSetting(database);
  service = await startService(database);
  await setting.sign(service);
  for (const [id, kinds] of Object.entries(await requestsOf(setting, service))) {
    const measured = { Bearer: [], DPoP: [] };
    const load = (kind, seconds) => {
      const connectionOf = (first) => {
        let next = first;
        return { request: () => kinds[kind](next++ % setting.clients.length), check: isOk };
      };
      return loadOnce({ id: `${id} ${kind}` }, service, connectionOf, seconds);
    };
    for (const kind of Object.keys(kinds)) await load(kind, WARM_UP_SECONDS);
    for (let round = 1; round <= Number(values.rounds); round++)
      for (const kind of Object.keys(kinds)) measured[kind].push(await load(kind, SECONDS));
    for (const [kind, figures] of Object.entries(measured)) {
      const of = (figure) => median(figures.map(figure));
      const [rate, processor] = [of(({ rate: each }) => each), of((each) => each.processor * 1000)];
      process.stdout.write(
        `${id} ${kind}: ${Math.round(rate)} requests/s; ${processor.toFixed(0)} µs each\n`,
      );
    }
  }
} finally {
  await service?.stop();
  await database.stop();
}
