import { DAY_MS, HOUR_MS } from '#platform/config/durations.js';
import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { ConsentImportService } from '#access/consents/import/consent-import.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ageConsents } from '../support/aged-consents.js';
import { madeForEach, useSharedService } from '../support/spec.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';

describe('Importing consents', () => {
  const service = useSharedService();
  beforeAll(() => leaveOutSchedule(service, ConsentExpiryService));
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());

  const line = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
    client_id: client.id,
    user_id: user.id,
    scopes: ['vehicle:read'],
    granted_at: '2025-05-01T12:00:00Z',
    evidence: 'Contract 4711, scanned on 1 May 2025',
    ...changes,
  });
  const run = (lines: unknown[], dryRun = false) =>
    service.app
      .get(ConsentImportService)
      .run(lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n'), {
        dryRun,
      });
  const found = () => service.app.get(ConsentsService).findLive(client.id, user.id);
  const versions = () =>
    service.database.query<object>(
      'SELECT event, method, granted_at FROM consent_versions WHERE user_id = $1 ORDER BY number',
      [user.id],
    );

  describe('refuses', () => {
    const BAD: [what: string, changes: string | Record<string, unknown>, reason: string][] = [
      ['what is not JSON', '{', 'The line is not JSON.'],
      ['a member that it does not know', { note: 'x' }, 'note is not a known member'],
      [
        'an unknown client',
        { client_id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735' },
        'There is no client with this id.',
      ],
      ['an unknown user', { user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735' }, 'There is no user with this id.'],
      [
        'an unknown address',
        { user_id: undefined, email: 'nobody@mail.example' },
        'No user has this email address.',
      ],
      ['no user', { user_id: undefined }, 'either user_id or email'],
      ['two ways to name the user', { email: 'a@mail.example' }, 'either user_id or email'],
      ['scopes that users cannot give', { scopes: ['admin:read'] }, 'scopes'],
      ['no scopes', { scopes: [] }, 'scopes'],
      ['no proof', { evidence: undefined }, 'evidence'],
      ['an empty proof', { evidence: ' ' }, 'evidence'],
      [
        'a time that is to come',
        { granted_at: '2999-01-01T00:00:00Z' },
        'granted_at must not be in the future',
      ],
      ['an end that has passed', { expires_at: '2026-01-01T00:00:00Z' }, 'expires_at must be in the future'],
    ];

    it('bad lines with what is wrong with each, and goes on with the other lines', async () => {
      const other = await service.make.user();
      const bad = BAD.map(([, changes]) => (typeof changes === 'string' ? changes : line(changes)));
      const result = await run(['', ...bad, line({ user_id: other.id })]);
      expect([result.imported, result.unchanged]).toEqual([1, 0]);
      const told = BAD.map(([what], n) => [what, result.refused[n]]);
      expect(told).toEqual(
        BAD.map(([what, , reason], n) => [
          what,
          { line: n + 2, reason: expect.stringContaining(reason) as string },
        ]),
      );
      expect(result.refused).toHaveLength(BAD.length);
      expect(await found()).toBeNull();
    });

    it('what has passed or is to come by the clock of the database, whatever its own says', async () => {
      const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
      const lines = [line(), line({ expires_at: inHours(1) })];
      const late = [line({ granted_at: inHours(1) })];
      const gone = [line({ expires_at: inHours(-1) })];
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * HOUR_MS);
      try {
        expect((await run(late, true)).refused[0]?.reason).toContain('granted_at must not be in the future');
        expect((await run(lines, true)).imported).toBe(2);
        clock.mockReturnValue(new Date('2020-01-01').getTime());
        expect((await run(gone, true)).refused[0]?.reason).toContain('expires_at must be in the future');
        expect((await run(lines, true)).imported).toBe(2);
      } finally {
        clock.mockRestore();
      }
    });

    it('to replace what the user agreed to here', async () => {
      await service.make.consent(client, user);
      expect(await run([line()])).toMatchObject({ imported: 0, refused: [{ line: 1 }] });
    });

    it('to bring back what the user ended since', async () => {
      await run([line()]);
      await service.make.revokeConsent(client, user);
      const result = await run([line()]);
      expect(result.refused[0]?.reason).toBe('The consent ended after it was given: it is not brought back.');
      expect(await found()).toBeNull();
    });

    it('a gatekeeper', async () => {
      await service.make.updateClient(client, { gatekeeper: true });
      expect((await run([line()])).refused[0]?.reason).toContain('gatekeeper');
    });
  });

  it('says with a dry run what it would do, and writes nothing', async () => {
    expect(await run([line(), line({ scopes: ['x'] })], true)).toMatchObject({
      imported: 1,
      refused: [{ line: 2 }],
    });
    expect(await found()).toBeNull();
    const unknown = line({ user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735' });
    expect((await run([unknown], true)).refused).toHaveLength(1);
  });

  it('can be repeated, also by two at once, and stores each consent once, as of when it was given', async () => {
    const lines = [line(), line({ user_id: undefined, email: (await service.make.user()).email })];
    const results = await Promise.all([run(lines), run(lines)]);
    expect(results.map(({ imported }) => imported).reduce((sum, count) => sum + count)).toBe(2);
    expect(await run(lines)).toEqual({ imported: 0, unchanged: 2, refused: [] });
    expect(await found()).toMatchObject({ scopes: ['vehicle:read'], method: 'import' });
    expect(await versions()).toEqual([
      { event: 'given', method: 'import', granted_at: new Date('2025-05-01T12:00:00Z') },
    ]);
  });

  it('takes what was given after the earlier one had ended, before anyone has noticed the end', async () => {
    const brief = await service.make.client({ consentExpiryDays: 30 });
    await service.make.consent(brief, user);
    await ageConsents(service.database, user.id, 60);
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const given = (at: string) => line({ client_id: brief.id, granted_at: at });
    expect((await run([given(daysAgo(31))])).refused[0]?.reason).toContain('it is not brought back');
    const later = given(daysAgo(10));
    expect(await run([later], true)).toMatchObject({ imported: 1 });
    expect(await versions()).toHaveLength(1);
    expect(await run([later])).toMatchObject({ imported: 1, refused: [] });
    expect(await versions()).toMatchObject([
      { event: 'given', method: 'operator' },
      { event: 'ended', method: 'schedule' },
      { event: 'given', method: 'import', granted_at: new Date(later.granted_at as string) },
    ]);
  });

  it('lets the client read at once', async () => {
    await run([line()]);
    const token = await service.make.clientToken(client);
    const { json } = await service.http.get('/v2/users', { bearer: token });
    expect(json).toEqual([expect.objectContaining({ id: user.id })]);
  });
});
