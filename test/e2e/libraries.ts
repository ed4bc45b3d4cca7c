import { madeOnce, REDIRECT_URI, type TestClient, type TestService } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import { PageProgram, PagePrograms } from '../support/page-programs.js';

/** What the programs of the pages are configured with. */
export const settingsOf = (of: TestClient): Record<string, string> => ({
  CLIENT_ID: of.id,
  REDIRECT_URI,
  ...(of.secret ? { CLIENT_SECRET: of.secret } : {}),
});

export interface Grant {
  generation: number;
  revoked: boolean;
}

export const newestGrantOf = async (
  { database }: Pick<TestService, 'database'>,
  of: TestClient,
): Promise<Grant | undefined> =>
  (
    await database.query<Grant>(
      `SELECT generation, revoked_at IS NOT NULL AS revoked FROM grants WHERE client_id = $1 ORDER BY id DESC LIMIT 1`,
      [of.id],
    )
  )[0];

/** Proves the programs `user` and others on the page about a library; `lacking`: why they cannot run here. */
export function describeLibrary(
  service: TestService,
  slug: string,
  extension: string,
  lacking?: string,
): void {
  const user = madeOnce(() => service.make.user());
  const browser = madeOnce(() => service.make.signedIn(user));
  const client = madeOnce(() => service.make.client());
  const app = madeOnce(() => service.make.client({ type: 'public' }));

  describeUnless(lacking, `The programs on the page about ${slug}`, () => {
    let programs: PagePrograms;
    beforeAll(async () => {
      const inGo = extension === 'go';
      programs = await PagePrograms.of(service.http, `/docs/libraries/${slug}`, { inGo });
    });
    afterAll(() => programs.remove());

    /** Does what a person does: opens the address that the program prints, decides, and pastes the address of the way back. */
    async function decide(
      of: TestClient,
      decision: 'authorize' | 'cancel',
      change = (cameTo: URL) => cameTo,
    ): Promise<{ sent: URL; end: Awaited<ReturnType<PageProgram['end']>> }> {
      const program = programs.start(`user.${extension}`, settingsOf(of));
      const sent = new URL(await program.firstLine());
      program.type(change(await browser.authorize(Object.fromEntries(sent.searchParams), decision)).href);
      return { sent, end: await program.end() };
    }

    it.each(['confidential', 'public'] as const)(
      'connect a user with PKCE, refresh, read and revoke as a %s client',
      async (type) => {
        const of = type === 'public' ? app : client;
        const { sent, end } = await decide(of, 'authorize');
        expect({ code: end.code, err: end.err }).toEqual({ code: 0, err: '' });
        expect(sent.searchParams.get('code_challenge_method')).toBe('S256');
        const [, me, last] = end.lines;
        expect([JSON.parse(me!), last]).toEqual([expect.objectContaining({ id: user.id }), 'revoked']);
        expect(await newestGrantOf(service, of)).toEqual({ generation: 1, revoked: true });
      },
    );

    it('stop when the user cancels, or when the answer belongs to another login', async () => {
      const before = await newestGrantOf(service, client);
      const cancelled = await decide(client, 'cancel');
      expect(cancelled.end.code).not.toBe(0);
      expect(cancelled.end.err).toMatch(/access_denied|cancel/i);
      const foreign = await decide(client, 'authorize', (cameTo) => {
        cameTo.searchParams.set('state', 'another');
        return cameTo;
      });
      expect(foreign.end.code).not.toBe(0);
      expect(await newestGrantOf(service, client)).toEqual(before);
    });

    it('read the users of a client with a token of its own, and stop at a wrong secret', async () => {
      await service.make.consent(client, user);
      const settings = settingsOf(client);
      const { code, lines, err } = await programs.start(`service.${extension}`, settings).end();
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(lines[0]!)).toEqual([expect.objectContaining({ id: user.id })]);
      const refused = programs.start(`service.${extension}`, { ...settings, CLIENT_SECRET: 'wrong' });
      expect((await refused.end()).code).not.toBe(0);
    });
  });
}
