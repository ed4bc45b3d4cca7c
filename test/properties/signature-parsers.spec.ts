import fc from 'fast-check';
import { Form } from '#platform/http/forms/form.js';
import { checkSignature, headersIn, typedIn } from '#entrypoints/webhook-portal/guides/signature-check.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { signDelivery, makeEndpointSecret, signingKeyOf } from '#events/webhooks/signing/sign-delivery.js';
import { verifySignature } from '#events/webhooks/signing/verify-signature.js';
import { headerText, oddText } from './support/odd-text.js';
import { always } from './support/runs.js';

/** Of RFC 8037. */
const PUBLIC_KEY = {
  ...({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' } as const),
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
};

describe('The signature checker', () => {
  const delivery = fc.record({
    id: fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
    timestamp: fc.integer({ min: 0, max: 999_999_999_999 }),
    body: oddText().filter((text) => text.isWellFormed()),
  });
  const signed = (secrets: string[], each: { id: string; timestamp: number; body: string }) => ({
    'webhook-id': each.id,
    'webhook-timestamp': String(each.timestamp),
    'webhook-signature': signDelivery(secrets.map(signingKeyOf), each),
  });

  it('accepts a signature by any of the secrets, and none after a single change', () => {
    const [first, second, other] = [makeEndpointSecret(), makeEndpointSecret(), makeEndpointSecret()];
    always(
      fc.property(
        delivery,
        fc.constantFrom(first, second),
        fc.constantFrom('id', 'timestamp', 'body', 'secret'),
        (each, secret, changed) => {
          const headers = signed([secret], each);
          if (!verifySignature([first, second], headers, each.body).matches) return false;
          const changes: Record<string, () => boolean> = {
            id: () =>
              verifySignature([secret], { ...headers, 'webhook-id': `${each.id}x` }, each.body).matches,
            timestamp: () =>
              verifySignature(
                [secret],
                { ...headers, 'webhook-timestamp': String(each.timestamp + 1) },
                each.body,
              ).matches,
            body: () => verifySignature([secret], headers, `${each.body}x`).matches,
            secret: () => verifySignature([other], headers, each.body).matches,
          };
          return !changes[changed]!();
        },
      ),
    );
  });

  it('says what is wrong with any input, and never throws', () => {
    const secret = makeEndpointSecret();
    const text = fc.oneof(
      headerText(),
      oddText(),
      fc.constantFrom(
        'v1,',
        'v1a,x v2,y',
        `v1a,${'A'.repeat(86)}==`,
        `v1,${'A'.repeat(43)}=`,
        '1',
        '1e3',
        ' 12 ',
      ),
    );
    always(
      fc.property(fc.tuple(text, text, text, text), text, (headers, body) => {
        const [id, timestamp, signature, pasted] = headers;
        const check = checkSignature(
          { secrets: [secret], publicKeys: [PUBLIC_KEY] },
          headersIn({ endpoint: '', id, timestamp, signature, headers: pasted, body }),
          body,
        );
        return check.matches === false && typeof check.problem === 'string';
      }),
    );
  });

  it('finds the headers in pasted lines, but prefers the fields', () => {
    const line = fc.constantFrom('> ', '  ', '', '> > ');
    always(
      fc.property(
        delivery,
        line,
        fc.boolean(),
        fc.constantFrom('\n', '\r\n'),
        (each, start, isUpper, end) => {
          const headers = signed([makeEndpointSecret()], each);
          const lines = Object.entries(headers).map(
            ([name, value]) => `${start}${isUpper ? name.toUpperCase() : name}: ${value}`,
          );
          const none = { endpoint: '', id: '', timestamp: '', signature: '', body: '' };
          const found = headersIn({ ...none, headers: ['HTTP/1.1 200', ...lines, ''].join(end) });
          const won = headersIn({ ...none, id: 'mine', headers: lines.join(end) });
          return JSON.stringify(found) === JSON.stringify(headers) && won['webhook-id'] === 'mine';
        },
      ),
    );
  });

  it('parses its fields from any form', () => {
    always(
      fc.property(
        fc.dictionary(
          fc.constantFrom('endpoint', 'webhook-id', 'headers', 'body'),
          oddText().map((each) => each.toWellFormed().replaceAll('\0', '')),
        ),
        (fields) => {
          const input = typedIn(Form.parse(new URLSearchParams(fields).toString()));
          return (
            Object.values(input).every((each) => typeof each === 'string') &&
            input.body === (fields.body ?? '')
          );
        },
      ),
    );
  });
});

describe('The secret of an endpoint', () => {
  it('is unsealed by a key of the service, only for its own endpoint', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    always(
      fc.property(key, key, oddText(), oddText(), (one, other, endpoint, another) => {
        const secret = makeEndpointSecret();
        const box = (...keys: Buffer[]) => new SealedBox('webhook endpoint secret', keys);
        const sealed = box(one).seal(secret, endpoint);
        const isOther = !one.equals(other);
        return (
          box(other, one).open(sealed, endpoint) === secret &&
          (!isOther || box(other).open(sealed, endpoint) === undefined) &&
          (endpoint.toWellFormed() === another.toWellFormed() || box(one).open(sealed, another) === undefined)
        );
      }),
    );
  });

  it('is refused with a message that does not contain it, if it is malformed', () => {
    always(
      fc.property(
        fc.oneof(
          oddText(),
          oddText().map((text) => `whsec_${text}`),
        ),
        (text) => {
          try {
            return signingKeyOf(text).symmetricKeySize === 32;
          } catch (error) {
            return text.length < 12 || !(error as Error).message.includes(text);
          }
        },
      ),
    );
  });
});
