import type { FastifyRequest } from 'fastify';
import { FormIds } from '#platform/http/forms/form-ids.service.js';
import type { Settings } from '#platform/config/settings.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { Form } from '#platform/http/forms/form.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { UnsubscribeKeys } from '#records/mail/unsubscribe-keys.service.js';
import { PURPOSES, type PurposeThat, keyIdOf } from '#platform/secrets/purpose-key.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { UsersRepository } from '#access/users/accounts/users.repository.js';
import { KnownBrowsersService } from '#access/users/sessions/known-browsers.service.js';
import { DpopNonces } from '#access/tokens/dpop/dpop-nonces.js';
import { ONCE_FIELD } from '#platform/web/forms/form.js';

const [KEY, NEW] = [Buffer.alloc(32, 'k'), Buffer.alloc(32, 'n')];
const DIGEST = Buffer.alloc(32, 'd').toString('base64url');

// Made with KEY by version 0.1, when each service derived its key by itself.
const SEALED: [purpose: PurposeThat<'seals'>, boundTo: string, text: string, sealed: string][] = [
  [
    'mail',
    'mail mail01',
    '{"subject":"Hello","text":"A text"}',
    'BzupFUwHTBVGKl8XvsN4oW_KrWMUoLSU4y5QhIFbVg7Owmn-mx3tb2finDeCNAuYR-uTlLO6AikuZ6RWOoh7',
  ],
  [
    'token key',
    'token key 7',
    Buffer.alloc(32, 's').toString('base64'),
    'rlKEgoNrgzQkium4pf3kp3MLDNH94vY7MaHRBAM6rPf1MoAxGVq0AwPQ7QX45uW-x8LEuQ3871_sJtnzAxRaW7CwLvYb7wAS',
  ],
  [
    'authenticator app',
    `set up user01 ${DIGEST}`,
    '{"secret":"DZ5JHK2AZXAHQZINMULRBD22CSGXHKNN","until":1767229200000}',
    'o2yM82iWGcRt1Eo3L1A0vc4a0Sgr5_Q8iP5IcFQcaH6mKuXvE25D0S_k_aHlIVtMN6_d2d_9Mfr8Ye-8LmSIf4Kr6LRLz_Xzm7tgW-TBW07Lxd7r-uP6WNUd-4IRdxc',
  ],
  [
    'answer of a form',
    DIGEST,
    '{"status":303,"headers":{"location":"/portal"},"body":""}',
    'ZfPEkmEZd0q068IIE7gSnE1kzj3oF1baBvzQsVjwS5OaN_67-aGkFDpXOkOd5aTpKlhMyuPvYtsL1CqgEdpt_U0b3SeAxfLWHc-AGcMfXro_2Ag6XA',
  ],
  ['return through mail', DIGEST, '/account', 'ZPXGcaNjWwB_zI7ycRctpUyXt9GFK0lNC3QXOClOzyNdQBup'],
  [
    'shown once',
    `/a user01 ${DIGEST}`,
    '{"value":"a secret","until":1767225900000}',
    'eiTYEOBKjGqZQ_weYRcPWth1grSmYcMR2Cz0s8Iued8nc71ycRjxYyD9W4q64IAcwaEDHL7BmRSt_oyt5H_w-EFP0R9KQA',
  ],
  [
    'position in the feed of events',
    'clnt01',
    '1767225600000 12 evnt01',
    'cmdf07xHgIRyXBJ-fxAkLtkGKCaHW9BYB1xvG-F1RpV2AeXYfFMa-V_53UKCJicXUW-a',
  ],
  ['webhook endpoint secret', 'endp01', 'whsec_x', 'brZomOudPSpQF99gBMa-q3ne9zq21RRSCOJKddimxHBmNzU'],
  [
    'webhook endpoint headers',
    'endp01',
    '{"x-a":"1"}',
    'xZjIzFK2etJefKjFVRhS8Q4HlZsZiKoUkMYC6T1am_zulkXKjcAJ',
  ],
  [
    'webhook receiver client secret',
    'endp01 https://login.example/token',
    'a client secret',
    'X5nQe_FhJu_Isdnrvrqmbc6HQsxlKrVkwJXT7oPF3ib7pH7JlgPcewJZ5Q',
  ],
  ['provider id token', 'acme sub', 'an.id.token', 'hV8D9GANs61LbUJ4aA8PRSn8PcoUdjlYAM5gqF86-cDKu162O6fS'],
  [
    'receipt key',
    'receipt key k01',
    'a private key',
    'ZVZ1vkz1ttaY_1d_8k8D0jA_vC9g8cXpNVC7iLUtA7gnCxaYtlgp_uk',
  ],
  ['webhook signing key', 'kid', 'a private key', 'FkLEkjd1jqFUybAXgbzvJ2xg6UqqY2eoeIWiJnxFv8476KniI7yMHoI'],
  [
    'provider sign-in',
    'state',
    '{"nonce":"nonce","codeVerifier":"verifier"}',
    'QapNwmBoQOxKbbJ6thDdxQUUDPiHQuFNBu6FsQWSkSdw2FS2yBVIWCzvh-RDPa2bsQ7dslNbpLAgzvQ90bVr7Nj1KYwY29Y',
  ],
  [
    'encryption canary',
    '82f63cbb',
    'charging-data-service',
    'zqj7wGtBkxEAbJtgiFJ8zkNj948e9KpBpn9Lk-kLDEvYBNuUBlrE7U-xP6BRbJnyeg',
  ],
];
const CSRF_TOKEN =
  'yOlgWZHtnhssUH4T13smG8RzoxNM5WGe9ho2xfb9qag-PwhoWNHQ-Nmn42k0CAAsULnbzQcpshVDcdDzXl2vp_pqfDHpT8Yo';
const DPOP_NONCE = 'HBXH2eCvYkYYwWhQc2RMT4DfKd_-W7cfxPnIIERVDTA';
const FORM_ID = 'clnt01KDVDNA00AMWZQ2KRHQ1D4W0R.ionPswm8or9Eb_Ce1Z5fjruPO86NPzsd-mQDC1VYNI8';
const KNOWN_BROWSER =
  'fXFL-NPHnNqui1WGetF6Ew.eX49M4vpv2PlZvcfJzX0yz2hs5x19uAL92I0-gKUdSY.r9_ucd1T2mXZt7FuFoNvlL3PrbSzsf6-s9ddfKPl6p0';
// Of version 0.2: those of 0.1 could not be checked without a look at the account.
const UNSUBSCRIBE_KEY =
  'cds_un_YWN0aW9uYWJsZSB1c2VyMDFLRFZETkEwMEFNV1pRMktSSFExRDRXMFIgcFZPdDhHdGZtNFJWdnZKUFVpUThFcFdlVWZhaHB6blNZM0pPaHRoYXNrTQ.lg1SXbmlMssJAUCs3Tl-8tXGyb9L3XYFEJnq-pCssuw';

const settingsWith = (...encryptionKeys: Buffer[]) =>
  ({ encryptionKeys, baseUrl: 'https://a.example', secure: false }) as Settings;
const withCookie = (name: string, value: string) =>
  ({ cookies: { [name]: value }, headers: {} }) as unknown as FastifyRequest;

/** What was signed before, each as a check by the service that signed it. */
const SIGNED: Record<PurposeThat<'signs'>, (keys: Buffer[]) => boolean> = {
  'csrf tokens': (keys) => {
    const csrf = new CsrfService(new Cookies(settingsWith()), settingsWith(...keys));
    const form = Form.parse(`csrf_token=${CSRF_TOKEN}`);
    return succeeds(() => csrf.check(withCookie('cds_csrf', 's'.repeat(43)), form, 'a form'));
  },
  'dpop nonces': (keys) => new DpopNonces(keys).insteadOf(DPOP_NONCE, 300 * 5_000_000) === undefined,
  'form ids': (keys) => {
    const form = Form.parse(`${ONCE_FIELD}=${FORM_ID}`);
    return succeeds(() => new FormIds(settingsWith(...keys)).read(form, 'clnt', 'user01', '/a'));
  },
  'known browsers': (keys) => {
    const cookies = new Cookies(settingsWith());
    const browsers = new KnownBrowsersService(cookies, {} as UsersRepository, settingsWith(...keys));
    const user = { email: 'a@mail.example', passwordHash: 'hash' } as UserEntity;
    return browsers.knows(withCookie('cds_known_browser', KNOWN_BROWSER), user);
  },
  unsubscribing: (keys) => {
    const opened = new UnsubscribeKeys(settingsWith(...keys)).open(UNSUBSCRIBE_KEY);
    return opened?.isFor('a@mail.example') === true && !opened.isFor('b@mail.example');
  },
};

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

describe('What was made before each purpose had its box', () => {
  it.each(SEALED)(
    'opens, with its own key and while that is a previous one: %s',
    (purpose, boundTo, text, sealed) => {
      const bytes = Buffer.from(sealed, 'base64url');
      const open = (keys: Buffer[], to = boundTo) => new SealedBox(purpose, keys).open(bytes, to);
      expect([open([KEY]), open([NEW, KEY])]).toEqual([text, text]);
      expect([open([NEW]), open([KEY], 'another')]).toEqual([undefined, undefined]);
    },
  );

  it.each(Object.entries(SIGNED))(
    'is verified, with its own key and while that is a previous one: %s',
    (_purpose, isRight) => {
      expect([isRight([KEY]), isRight([NEW, KEY]), isRight([NEW])]).toEqual([true, true, false]);
    },
  );

  it('keeps its name: the id of the key', () => expect(keyIdOf(KEY)).toBe('82f63cbb'));

  it('is here for every purpose', () => {
    const named = [...SEALED.map(([purpose]) => purpose), ...Object.keys(SIGNED), 'key id'];
    expect(named.sort()).toEqual(Object.keys(PURPOSES).sort());
  });

  it('has to be sealed again if it was sealed without a purpose', () => {
    const current = SEALED.filter(([purpose, boundTo, , sealed]) =>
      new SealedBox(purpose, [KEY, NEW]).isCurrent(Buffer.from(sealed, 'base64url'), boundTo),
    );
    const others = SEALED.map(([purpose]) => purpose).filter(
      (each) => each !== 'mail' && each !== 'token key',
    );
    expect(current.map(([purpose]) => purpose)).toEqual(others);
  });
});

describe('A box', () => {
  const box = (...keys: Buffer[]) => new SealedBox('mail', keys);

  it('seals under the first key for its purpose, not under the encryption key itself', () => {
    const sealed = box(NEW, KEY).seal('a text', 'a row');
    expect(box(NEW).isCurrent(sealed, 'a row')).toBe(true);
    expect(box(KEY, NEW).isCurrent(sealed, 'a row')).toBe(false);
    expect(box(KEY, NEW).open(sealed, 'a row')).toBe('a text');
    expect(new SealedBox('token key', [NEW]).open(sealed, 'a row')).toBeUndefined();
  });

  it('of another purpose does not open what was sealed without one', () => {
    const [, boundTo, , sealed] = SEALED[0]!;
    const open = (purpose: PurposeThat<'seals'>) =>
      new SealedBox(purpose, [KEY]).open(Buffer.from(sealed, 'base64url'), boundTo);
    const opening = SEALED.map(([purpose]) => purpose).filter((purpose) => open(purpose) !== undefined);
    expect(opening).toEqual(['mail', 'token key']);
  });
});
