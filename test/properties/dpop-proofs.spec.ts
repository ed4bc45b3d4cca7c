import fc from 'fast-check';
import { SignJWT } from 'jose';
import type { UsedProofs } from '#access/clients/proofs/used-proofs.service.js';
import { DpopProofs } from '#access/tokens/dpop/dpop-proofs.service.js';
import { comparableUrl } from '#access/tokens/dpop/proof-claims.js';
import type { Settings } from '#platform/config/settings.js';
import type { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { newKey } from '../support/client-keys.js';
import { proofOf, thumbprintOf } from '../support/dpop.js';
import { madeOnce } from '../support/made.js';
import { useSharedService } from '../support/test-service.js';
import { oddText } from './support/odd-text.js';
import { always, alwaysAsync } from './support/runs.js';

const BASE = 'https://auth.example';
const proofsOf = (dpopNonce = false): DpopProofs =>
  new DpopProofs(
    { use: () => Promise.resolve(true) } as object as UsedProofs,
    { databaseNow: Date.now() } as AccessChanges,
    { baseUrl: BASE, dpopNonce, encryptionKeys: [Buffer.alloc(32, 'k')] } as object as Settings,
  );
const key = madeOnce(() => newKey());
const request = (dpop: string, url = '/o/token') => ({ method: 'POST', url, headers: { dpop } });
const claims = fc.dictionary(
  fc.oneof(fc.constantFrom('jti', 'htm', 'htu', 'iat', 'ath', 'nonce', 'exp', 'nbf'), oddText()),
  fc.jsonValue(),
);

describe('A proof', () => {
  it('of any text is refused, and never an error', async () => {
    await alwaysAsync(
      fc.asyncProperty(oddText(), oddText(), fc.boolean(), async (text, url, needsNonce) => {
        for (const dpop of [text, `${text}.${text}.${text}`]) {
          expect(await proofsOf(needsNonce).check(request(dpop, url))).toHaveProperty('refused');
        }
      }),
    );
  });

  it('with any header and any claims is refused, unless they are right', async () => {
    await alwaysAsync(
      fc.asyncProperty(claims, fc.jsonValue(), fc.boolean(), async (given, jwk, needsNonce) => {
        const signed = await proofOf(key, 'POST', `${BASE}/o/token`, { claims: given });
        const found = await proofsOf(needsNonce).check(request(signed));
        if ('jkt' in found) expect(found.jkt).toBe(await thumbprintOf(key));
        const head = { alg: 'ES256', typ: 'dpop+jwt', jwk: jwk as object };
        const other = await new SignJWT({}).setProtectedHeader(head).sign(key.privateKey);
        expect(await proofsOf(needsNonce).check(request(other))).toHaveProperty('refused');
      }),
      100,
    );
  });

  it('is about a URL as it was sent, however it is written', () => {
    always(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        const { origin, pathname } = new URL(url);
        const octets = pathname.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
        expect(comparableUrl(`${origin}${octets}?a#b`)).toBe(comparableUrl(url));
      }),
    );
    always(fc.property(oddText(), (text) => void comparableUrl(text)));
  });
});

describe('The endpoints', () => {
  const service = useSharedService();
  const client = madeOnce(() => service.make.client());
  // What a header can carry.
  const inHeader = (text: string): string => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').trim();

  it('answer any DPoP header with a refusal', async () => {
    const token = await service.make.clientToken(client);
    await alwaysAsync(
      fc.asyncProperty(oddText(), async (text) => {
        const dpop = inHeader(text);
        const form = { grant_type: 'client_credentials' };
        const asked = await service.http.send('/o/token', { form, basic: client, headers: { dpop } });
        const authorization = `DPoP ${inHeader(text) || token}`;
        const used = await service.http.get('/v2/users', { headers: { authorization, dpop } });
        expect([asked.status, used.status]).toEqual([400, 401]);
      }),
      40,
    );
  });
});
