import { createSecretKey, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { load } from './dist.mjs';
import { basic } from './http-text.mjs';
import { serviceEnvironment } from './servers.mjs';

const LIFE_MS = 36_000_000;
const TRIES = 200;
const BETWEEN_MS = 50;

/**
 * Creates tokens as the running service would, without a request for each: with the key of its database and the stamp of a token
 * that the service has just issued.
 */
export async function signerOf({ query }, { url }, client, scopes) {
  const records = await load('access/tokens/keys/token-record.js');
  const { SealedBox } = await load('platform/secrets/sealed-box.js');
  const { sealedFor } = await load('access/tokens/keys/token-keys.service.js');
  const box = new SealedBox('token key', [Buffer.from(serviceEnvironment(0).ENCRYPTION_KEY, 'base64')]);
  const [{ id, sealed }] = await query(
    'SELECT id::float8 AS id, sealed FROM token_keys WHERE retired_at IS NULL',
  );
  const secret = createSecretKey(Buffer.from(box.open(sealed, sealedFor(id)), 'base64'));
  const { stamp } = await firstRecord();
  const numbers = await query('SELECT name, number FROM scopes');
  const issuedAt = Date.now();
  const common = {
    ...{ keyId: id, stamp, issuedAt, expiresAt: issuedAt + LIFE_MS },
    scopes: scopes.map((scope) => numbers.find(({ name }) => name === scope).number),
  };
  return {
    ofUser: (grant) => records.writeAccessToken({ kind: 'user', ...common, ...grant }, secret),
    ofClient: (clientId) =>
      records.writeAccessToken(
        { kind: 'client', id: randomBytes(16).toString('hex'), clientId, epoch: 0, ...common },
        secret,
      ),
    toRefresh: (grantId) => records.writeRefreshToken({ keyId: id, grantId, generation: 0 }, secret),
  };

  /** The record of the first token that the service issues after it has identified its database. */
  async function firstRecord() {
    for (let tries = 1; tries <= TRIES; tries++) {
      const answer = await fetch(`${url}/o/token`, {
        method: 'POST',
        headers: { authorization: basic(client), 'content-type': 'application/x-www-form-urlencoded' },
        body: 'grant_type=client_credentials',
      });
      const { access_token: token } = await answer.json();
      const { record } = records.openAccessToken(token, () => secret);
      if (record.stamp.era !== 0) return record;
      await pause(BETWEEN_MS);
    }
    throw new Error('The service does not read the access changes of its database.');
  }
}
