import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose';
import { webcrypto } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WebhookKeys } from '#events/webhooks/signing/webhook-keys.service.js';
import { useSharedService } from '../support/spec.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { enterPortal, makeEndpoint, wordsOf } from '../support/portal.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

interface Signed {
  request: ReceivedRequest;
  content: string;
  signatures: [version: string, signature: Buffer][];
}

/* Contract §22: signatures by a key pair of the client, whose public part is published. */
describe('The signatures of an endpoint', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  const create = (json: object) => webhooks.add(client, json);
  const patch = (id: string, json: object) => webhooks.change(id, json);
  const keysOf = async (clientId = client.id): Promise<JWK[]> => {
    const answer = await service.http.get(`/.well-known/webhooks/${clientId}/jwks.json`);
    expect(answer.status).toBe(200);
    return answer.json.keys as JWK[];
  };
  /** The request of the only delivery of a new event. */
  const signed = async (): Promise<Signed> => {
    const { id } = await webhooks.publishOne(user.id);
    await webhooks.finished(id);
    const request = webhooks.receiver.requests.find(({ headers }) => headers['webhook-id'] === id)!;
    const { 'webhook-timestamp': timestamp, 'webhook-signature': header } = request.headers;
    const signatures = String(header)
      .split(' ')
      .map((each): [string, Buffer] => {
        const [version, written] = each.split(',');
        return [version!, Buffer.from(written!, 'base64')];
      });
    return { request, content: `${id}.${String(timestamp)}.${request.body}`, signatures };
  };
  const versionsOf = ({ signatures }: Signed) => signatures.map(([version]) => version);
  /** Judged by Web Crypto with the key as `jose` reads it. */
  const isOf = async (jwk: JWK, signature: Buffer, content: string): Promise<boolean> =>
    webcrypto.subtle.verify(
      'Ed25519',
      (await importJWK(jwk, 'EdDSA')) as CryptoKey,
      signature,
      Buffer.from(content),
    );

  it.each([[[]], [['v2']], [['v1', 'v1']], ['v1'], [null], [['v1', 'v1a', 'v2']]])(
    'are refused: %j',
    async (versions) => {
      const answer = await create({ signature_versions: versions });
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
        400,
        ['signature_versions'],
      ]);
    },
  );

  it('are by the secret alone by default, and there is no key', async () => {
    const { json } = await create({});
    expect(json.signature_versions).toEqual(['v1']);
    const found = await signed();
    expect(versionsOf(found)).toEqual(['v1']);
    new Webhook(json.secret as string).verify(found.request.body, found.request.headers as never);
    expect(await keysOf()).toEqual([]);
    for (const unknown of ['clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'x'])
      expect((await service.http.get(`/.well-known/webhooks/${unknown}/jwks.json`)).status).toBe(404);
  });

  it('are by both, and each is right for its judge', async () => {
    const { json } = await create({ signature_versions: ['v1a', 'v1'] });
    expect(json.signature_versions).toEqual(['v1', 'v1a']);
    const found = await signed();
    expect(versionsOf(found)).toEqual(['v1', 'v1a']);
    // A library that does not know v1a skips it.
    new Webhook(json.secret as string).verify(found.request.body, found.request.headers as never);
    const [key, ...more] = await keysOf();
    expect([more, key]).toEqual([
      [],
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.any(String),
        kid: expect.any(String),
        use: 'sig',
        alg: 'EdDSA',
      },
    ]);
    expect(key!.kid).toBe(await calculateJwkThumbprint(key!));
    const signature = found.signatures[1]![1];
    expect(signature).toHaveLength(64);
    expect(await isOf(key!, signature, found.content)).toBe(true);
    expect(await isOf(key!, signature, `${found.content} `)).toBe(false);
  });

  it('are by the key alone, as what the portal shows confirms', async () => {
    const { json } = await create({ signature_versions: ['v1a'] });
    const found = await signed();
    expect(versionsOf(found)).toEqual(['v1a']);
    const portal = await enterPortal(service, client);
    const [, written] = /whpk_([A-Za-z0-9+/]{43}=)/.exec(
      wordsOf(await portal.open(`/portal/endpoints/${json.id as string}`)),
    )!;
    const x = Buffer.from(written!, 'base64').toString('base64url');
    const shown = { kty: 'OKP', crv: 'Ed25519', x };
    expect(await isOf(shown, found.signatures[0]![1], found.content)).toBe(true);
  });

  it('are of one key for all endpoints of a client, which another one does not share, and is sealed', async () => {
    const [one] = await Promise.all([
      create({ signature_versions: ['v1a'] }),
      create({ signature_versions: ['v1a'], enabled: false }),
      create({ signature_versions: ['v1', 'v1a'], enabled: false }),
    ]);
    const [key, ...more] = await keysOf();
    expect(more).toEqual([]);
    const other = await service.make.client();
    await service.app.get(WebhookKeys).make(other.id);
    const [ofOther] = await service.app.get(WebhookKeys).published(other.id);
    expect(ofOther!.kid).not.toBe(key!.kid);
    await patch(one.json.id as string, { signature_versions: ['v1a'] });
    expect(await keysOf()).toEqual([key]);
    const rows = await query<{ sealed: Buffer }>(
      'SELECT sealed FROM webhook_signing_keys WHERE client_id = $1',
      [client.id],
    );
    // A nonce, the 43 characters of the key, and a tag.
    expect(rows.map(({ sealed }) => sealed.length)).toEqual([12 + 43 + 16]);
  });

  it('have no key to rotate before an endpoint wants one; looking makes none', async () => {
    const plain = await service.make.client();
    const { id } = await makeEndpoint(service, plain);
    const portal = await enterPortal(service, plain);
    expect((await portal.open(`/portal/endpoints/${id}/rotate-key`)).status).toBe(404);
    expect(await service.app.get(WebhookKeys).published(plain.id)).toEqual([]);
  });

  it('are of the old and the new key for 24 hours after a rotation, which a second click does not repeat', async () => {
    const { json } = await create({ signature_versions: ['v1a'] });
    const [old] = await keysOf();
    const portal = await enterPortal(service, client);
    const rotate = `/portal/endpoints/${json.id as string}/rotate-key`;
    const page = await portal.open(rotate);
    for (let click = 0; click < 2; click++) expect((await portal.submit(page, rotate)).status).toBe(303);
    const [fresh, kept, ...more] = await keysOf();
    expect([kept, more, fresh!.kid === old!.kid]).toEqual([old, [], false]);
    const found = await signed();
    expect(versionsOf(found)).toEqual(['v1a', 'v1a']);
    expect(await isOf(fresh!, found.signatures[0]![1], found.content)).toBe(true);
    expect(await isOf(old!, found.signatures[1]![1], found.content)).toBe(true);
    const events = await query(
      "SELECT before, after FROM audit_events WHERE action = 'client.webhook_key_rotated' AND subject_id = $1",
      [client.id],
    );
    expect(events).toEqual([{ before: { webhook_key: old!.kid }, after: { webhook_key: fresh!.kid } }]);
    await query("UPDATE webhook_signing_keys SET retired_at = now() - interval '25 hours' WHERE id = $1", [
      old!.kid,
    ]);
    expect(await keysOf()).toEqual([fresh]);
  });

  it('are checked in the portal, with and without a secret', async () => {
    const { json } = await create({ signature_versions: ['v1a'] });
    const found = await signed();
    const portal = await enterPortal(service, client);
    const check = async (body: string) =>
      wordsOf(
        await portal.submit(await portal.open('/portal/verify'), '/portal/verify#checker', {
          endpoint: json.id as string,
          'webhook-id': String(found.request.headers['webhook-id']),
          'webhook-timestamp': String(found.request.headers['webhook-timestamp']),
          'webhook-signature': String(found.request.headers['webhook-signature']),
          body,
        }),
      );
    expect(await check(found.request.body)).toContain('Match');
    expect(await check(`${found.request.body}x`)).toContain('No match');
  });

  it('are missed, and nothing is sent, if no key can decrypt the key', async () => {
    await create({ signature_versions: ['v1', 'v1a'] });
    await query("UPDATE webhook_signing_keys SET sealed = 'x' WHERE client_id = $1", [client.id]);
    const { id } = await webhooks.publishOne(user.id);
    await webhooks.attempted(id);
    expect(webhooks.receiver.requests.some(({ headers }) => headers['webhook-id'] === id)).toBe(false);
    const [attempt] = await query<{ detail: string }>(
      'SELECT detail FROM delivery_attempts WHERE delivery_id = $1',
      [id],
    );
    expect(attempt!.detail).toBe(
      'The request could not be signed: the signing key of the client must be rotated.',
    );
  });

  it('are chosen in the portal and in the console', async () => {
    const { id } = await webhooks.endpoint(client);
    const portal = await enterPortal(service, client);
    const ofPortal = `/portal/endpoints/${id}/edit`;
    const save = async (versions: string[]) =>
      portal.submit(await portal.open(ofPortal), ofPortal, { signature_versions: versions });
    expect((await save(['v1a'])).status).toBe(303);
    // None: by the secret.
    expect((await save([])).status).toBe(303);
    expect(wordsOf(await portal.open(`/portal/endpoints/${id}`))).not.toContain('Public key');
    expect((await save(['v1', 'v1a'])).status).toBe(303);
    const operator = await service.make.signedInNew({ role: 'operator' });
    const ofConsole = `/admin/console/endpoints/${id}`;
    expect(wordsOf(await operator.open(ofConsole))).toContain('v1, v1a');
    await operator.fillIn(`${ofConsole}/edit`, { signature_versions: ['v1a'] });
    const [row] = await query('SELECT signature_versions AS versions FROM webhook_endpoints WHERE id = $1', [
      id,
    ]);
    expect(row).toEqual({ versions: ['v1a'] });
  });
});
