import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { makeEndpointSecret, signDelivery, signingKeyOf } from '#events/webhooks/signing/sign-delivery.js';
import { verifySignature } from '#events/webhooks/signing/verify-signature.js';

const [SECRET, OTHER] = [makeEndpointSecret(), makeEndpointSecret()];
const NOW = Date.now();
const TIMESTAMP = Math.floor(NOW / 1000);
const BODY = '{"type":"webhook.test","data":{"name":"Zo\u00eb \u{1f697}"}}';

const headersOf = (secrets: string[], body = BODY, timestamp = TIMESTAMP, id = 'dlvr01') => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signDelivery(secrets.map(signingKeyOf), { id, timestamp, body }),
});
const check = (headers: Record<string, string | undefined>, body = BODY, secrets = [SECRET]) =>
  verifySignature(secrets, headers, body, NOW);

describe('the signature of a delivery', () => {
  it('is refused by other implementations if anything was changed', () => {
    const headers = headersOf([SECRET]);
    const judge = new Webhook(SECRET);
    expect(() => judge.verify(`${BODY} `, headers)).toThrow();
    expect(() => judge.verify(BODY, { ...headers, 'webhook-id': 'dlvr02' })).toThrow();
    expect(() => judge.verify(BODY, { ...headers, 'webhook-timestamp': String(TIMESTAMP - 1) })).toThrow();
    expect(() => new Webhook(OTHER).verify(BODY, headers)).toThrow();
  });

  it('is accepted by other implementations, for any body', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.uuid(), (text, id) => {
        const body = JSON.stringify({ text });
        expect(new Webhook(SECRET).verify(body, headersOf([SECRET], body, TIMESTAMP, id))).toEqual({ text });
      }),
    );
  });

  it('contains one signature for each live secret during a rotation, and either is accepted', () => {
    const headers = headersOf([OTHER, SECRET]);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const secret of [SECRET, OTHER]) {
      expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
      expect(check(headers, BODY, [secret])).toEqual({ matches: true });
    }
  });

  it('is the one that the specification computes', () => {
    const date = new Date(TIMESTAMP * 1000);
    expect(headersOf([SECRET])['webhook-signature']).toBe(new Webhook(SECRET).sign('dlvr01', date, BODY));
  });
});

describe('the secret of an endpoint', () => {
  it.each(['', 'whsec_', `whsec_${'x'.repeat(44)}`, SECRET.slice(6), SECRET.slice(0, -1), `${SECRET}\n`])(
    'signs nothing if it is malformed, and is not quoted',
    (secret) => {
      const sign = () => signingKeyOf(secret);
      expect(sign).toThrow('This is not an endpoint secret.');
    },
  );

  it('consists of whsec_ and 32 random bytes', () => {
    const secrets = Array.from({ length: 200 }, makeEndpointSecret);
    expect(new Set(secrets).size).toBe(200);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });

  it('is sealed for one endpoint under one key, and never the same twice', () => {
    const [key, older] = [Buffer.alloc(32, 'k'), Buffer.alloc(32, 'o')];
    const box = (...keys: Buffer[]) => new SealedBox('webhook endpoint secret', keys);
    const sealed = box(older).seal(SECRET, 'wend01');
    expect(box(key).open(sealed, 'wend01')).toBeUndefined();
    expect(box(older).open(sealed, 'wend02')).toBeUndefined();
    expect(box().open(sealed, 'wend01')).toBeUndefined();
    expect(box(older).open(sealed.subarray(0, -1), 'wend01')).toBeUndefined();
    expect(sealed.includes(SECRET.slice(6, 20))).toBe(false);
    expect(box(older).seal(SECRET, 'wend01').equals(sealed)).toBe(false);
    expect(box(key, older).open(sealed, 'wend01')).toBe(SECRET);
  });
});

describe('the checker of signatures', () => {
  const good = headersOf([SECRET]);

  it.each([
    ['missing_id', { 'webhook-id': undefined }],
    ['missing_id', { 'webhook-id': ' ' }],
    ['missing_timestamp', { 'webhook-timestamp': undefined }],
    ['missing_signature', { 'webhook-signature': '' }],
    ['malformed_timestamp', { 'webhook-timestamp': 'today' }],
    ['malformed_timestamp', { 'webhook-timestamp': '-1' }],
    ['malformed_timestamp', { 'webhook-timestamp': '1.5' }],
    ['malformed_signature', { 'webhook-signature': 'v1' }],
    ['malformed_signature', { 'webhook-signature': 'v1,' }],
    ['malformed_signature', { 'webhook-signature': good['webhook-signature'].slice(3) }],
    ['malformed_signature', { 'webhook-signature': good['webhook-signature'].slice(0, -1) }],
    ['malformed_signature', { 'webhook-signature': `${good['webhook-signature']},v1` }],
    ['malformed_signature', { 'webhook-signature': 'v1a,abc' }],
    ['no_match', { 'webhook-id': 'dlvr02' }],
    ['no_match', { 'webhook-timestamp': String(TIMESTAMP - 1) }],
    ['no_match', { 'webhook-signature': `v1,${'A'.repeat(43)}=` }],
  ])('reports %s for %j', (problem, changed) => {
    expect(check({ ...good, ...changed })).toEqual({ matches: false, problem });
  });

  it('reports that a changed body, another secret or no secret does not match', () => {
    expect(check(good, `${BODY} `)).toEqual({ matches: false, problem: 'no_match' });
    expect(check(good, BODY, [OTHER])).toEqual({ matches: false, problem: 'no_match' });
    expect(check(good, BODY, [])).toEqual({ matches: false, problem: 'no_match' });
  });

  it.each([
    [301, { warning: 'timestamp_too_old' }],
    [300, {}],
    [-300, {}],
    [-301, { warning: 'timestamp_too_new' }],
  ])('warns that a timestamp is %d s old, and also reports whether the signature matches', (age, warning) => {
    const headers = headersOf([SECRET], BODY, TIMESTAMP - age);
    expect(check(headers)).toEqual({ matches: true, ...warning });
    expect(check(headers, 'x')).toEqual({ matches: false, problem: 'no_match', ...warning });
  });

  it('accepts header names in any case, and one matching signature among others', () => {
    expect(
      check({
        'Webhook-Id': ' dlvr01 ',
        'WEBHOOK-TIMESTAMP': good['webhook-timestamp'],
        'Webhook-Signature': `v1a,abc v1,${'A'.repeat(43)}=  ${good['webhook-signature']} v2,x`,
      }),
    ).toEqual({ matches: true });
  });

  it('accepts a signature of the specification’s own library', () => {
    const signature = new Webhook(SECRET).sign('dlvr01', new Date(NOW), BODY);
    expect(check({ ...good, 'webhook-signature': signature })).toEqual({ matches: true });
  });
});
