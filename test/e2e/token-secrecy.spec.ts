import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { PURPOSES } from '#platform/secrets/purpose-key.js';
import { ScopeNumbersService } from '#access/scopes/scope-numbers.service.js';
import {
  openAccessToken,
  openRefreshToken,
  writeAccessToken,
  writeRefreshToken,
  type AccessTokenRecord,
  type RefreshTokenRecord,
} from '#access/tokens/keys/token-record.js';
import { unseal } from '#platform/secrets/sealed-box.js';
import { isAccepted, madeOnce, refresh, type Tokens } from '../support/spec.js';
import { TEST_ENCRYPTION_KEY, useService } from '../support/test-service.js';
import { accessRecordOf, refreshRecordOf, tokenKeysOf } from '../support/tokens.js';

/** Returns every leaf value in a value, as bytes. */
function leaves(value: unknown): Buffer[] {
  if (value === null || value === undefined) return [];
  if (Buffer.isBuffer(value)) return [value];
  if (value instanceof Date || typeof value !== 'object') return [Buffer.from(String(value))];
  return Object.values(value).flatMap(leaves);
}

const distinct = (values: Buffer[]): Buffer[] => [
  ...new Map(values.map((each) => [each.toString('hex'), each])).values(),
];

/** The thief has the database or the settings, but not both. */
describe('Tokens', () => {
  const service = useService();
  let tokens: Tokens;
  let own: string;
  let access: AccessTokenRecord[];
  let current: RefreshTokenRecord;

  const client = madeOnce(() => service.make.client());
  beforeAll(async () => {
    const first = await service.make.tokens(client, await service.make.user());
    tokens = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
    own = await service.make.clientToken(client);
    access = await Promise.all([own, tokens.access_token].map((token) => accessRecordOf(service, token)));
    current = await refreshRecordOf(service, tokens.refresh_token);
  });

  /** Returns every value of every table as bytes; for arrays and documents, each value in them. */
  async function read(): Promise<Buffer[]> {
    const names = await service.database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const values: Buffer[] = [];
    for (const { name } of names)
      values.push(...leaves(await service.database.query(`SELECT * FROM ${name}`)));
    return values;
  }

  /** The keys that a thief would try: the values, parts of them, decoded forms, and keys derived from them. */
  function keysFrom(all: Buffer[]): KeyObject[] {
    const values = distinct(all);
    const candidates = values.flatMap((value) => [
      value,
      value.subarray(0, 32),
      value.subarray(-32),
      value.subarray(12, 44),
      value.subarray(12, -16),
      Buffer.from(value.toString(), 'base64'),
      Buffer.from(value.toString(), 'hex'),
      createHash('sha256').update(value).digest(),
    ]);
    const labels = [...Object.keys(PURPOSES), ...[...tokenKeyIds].map((id) => `token key ${id}`)];
    const derived = values.flatMap((value) =>
      labels.map((label) => Buffer.from(hkdfSync('sha256', value, '', label, 32))),
    );
    return distinct([...candidates, ...derived]).map((each) => createSecretKey(each));
  }

  let tokenKeyIds = new Set<number>();
  let dump: Buffer[];
  let keysFromDump: KeyObject[];
  beforeAll(async () => {
    tokenKeyIds = new Set((await tokenKeysOf(service)).keys());
    dump = await read();
    keysFromDump = keysFrom(dump);
  });

  const isRecognised = (key: KeyObject): boolean =>
    [own, tokens.access_token].some((token) => 'record' in openAccessToken(token, () => key)) ||
    'record' in openRefreshToken(tokens.refresh_token, () => key);

  /** Whether the service accepts a token that was written with this key. */
  async function makesATokenThatWorks(key: KeyObject): Promise<boolean> {
    for (const record of access) {
      if (await isAccepted(service.http, writeAccessToken(record, key))) return true;
    }
    const made = writeRefreshToken(current, key);
    return (await refresh(service.http, client, made)).status === 200;
  }

  const THIEVES: [what: string, loot: () => KeyObject[]][] = [
    ['the database alone', () => keysFromDump],
    [
      'the settings alone',
      () => keysFrom([...leaves({ ...service.settings }), Buffer.from(TEST_ENCRYPTION_KEY)]),
    ],
  ];

  it.each(THIEVES)('can be neither recognised nor forged by a thief with %s', async (_what, loot) => {
    const keys = loot();
    expect(keys.length).toBeGreaterThan(20);
    expect(keys.filter(isRecognised)).toEqual([]);
    // Only those that look most like keys: a key that recognises no token cannot be the right one.
    const likely = keys.filter((key) => key.symmetricKeySize === 32).slice(0, 10);
    for (const key of likely) expect(await makesATokenThatWorks(key)).toBe(false);
  });

  /** Returns the bytes of the sealed keys that one of these keys unseals. */
  const unsealedBy = (keys: KeyObject[], sealed: Map<number, Buffer>): string[] =>
    [...sealed].flatMap(([id, bytes]) =>
      keys
        .filter((key) => key.symmetricKeySize === 32)
        .flatMap((key) => unseal(key.export(), bytes, `token key ${id}`) ?? []),
    );
  const sealedKeys = async () => {
    const rows = await service.database.query<{ id: number; sealed: Buffer }>(
      'SELECT id::float8 AS id, sealed FROM token_keys',
    );
    return new Map(rows.map(({ id, sealed }) => [id, sealed]));
  };

  it('are signed with keys that nothing in the database unseals', async () => {
    expect(unsealedBy(keysFromDump, await sealedKeys())).toEqual([]);
    // With the settings as well, they can be unsealed.
    const settings = leaves({ ...service.settings });
    expect(unsealedBy(keysFrom(settings), await sealedKeys())).not.toEqual([]);
  });

  it('do not appear in the database, nor does any part of their tags', async () => {
    const all = Buffer.concat(dump);
    for (const token of [own, tokens.access_token, tokens.refresh_token]) {
      const tag = Buffer.from(token.slice(7), 'base64url').subarray(-32);
      for (const form of [Buffer.from(token), tag, tag.subarray(0, 16), Buffer.from(tag.toString('hex'))])
        expect(all.includes(form)).toBe(false);
      expect(all.includes(createHash('sha256').update(token).digest())).toBe(false);
    }
  });

  const HIDDEN: [where: string, as: (bytes: Buffer) => string][] = [
    [
      'as base64 in a JSON document',
      (bytes) => `jsonb_build_object('a', jsonb_build_array('${bytes.toString('base64')}'))`,
    ],
    ['as hex in a JSON document', (bytes) => `jsonb_build_object('a', '${bytes.toString('hex')}')`],
  ];
  it.each(HIDDEN)(
    'would be recognised in these tests if a key were stored in the database %s',
    async (_where, as) => {
      const [secret] = [...(await tokenKeysOf(service)).values()];
      const found = await service.database.query(`SELECT ${as(secret!.export())} AS value`);
      expect(keysFrom(leaves(found)).some(isRecognised)).toBe(true);
    },
  );

  it('can be recognised and forged with the real key, so these tests can fail', async () => {
    const [key] = [...(await tokenKeysOf(service)).values()];
    expect(isRecognised(key!)).toBe(true);
    expect(await makesATokenThatWorks(key!)).toBe(true);
    const everything = await service.app.get(ScopeNumbersService).of(['admin:write', 'admin:read']);
    const greedy = writeAccessToken({ ...access[0]!, scopes: everything }, key!);
    // Even then, a token grants no more than its client may do.
    expect((await service.http.get('/admin/users', { bearer: greedy })).status).toBe(403);
  });
});
