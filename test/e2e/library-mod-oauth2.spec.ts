import { Apache, lackingModOAuth2 } from '../support/apache.js';
import { freePort } from '../support/free-port.js';
import { describeUnless } from '../support/left-out.js';
import { PagePrograms } from '../support/page-programs.js';
import { madeOnce, useSharedService } from '../support/spec.js';

const REQUIRE_LINE = /^.*Require oauth2_claim.*$/m;

describeUnless(lackingModOAuth2, 'What the page about Apache says of mod_oauth2', () => {
  const service = useSharedService();
  const client = madeOnce(() => service.make.client());
  let apache: Apache | undefined;
  let ports: { shown: number; pattern: number; expression: number; anybody: number };

  beforeAll(async () => {
    const programs = await PagePrograms.of(service.http, '/docs/libraries/mod-auth-openidc');
    const shown = programs.files.get('mod-oauth2.conf')!;
    await programs.remove();
    expect(shown).toMatch(REQUIRE_LINE);
    ports = {
      shown: await freePort(),
      pattern: await freePort(),
      expression: await freePort(),
      anybody: await freePort(),
    };
    // A function, because `$` means something in a replacement.
    const requiring = (line: string) => shown.replace(REQUIRE_LINE, () => line);
    const sites = new Map([
      [ports.shown, shown],
      [ports.pattern, requiring('Require oauth2_claim "scope~(^| )vehicle:read( |$)"')],
      [
        ports.expression,
        requiring(
          '<RequireAll>\nRequire valid-user\nRequire expr "%{reqenv:OAUTH2_CLAIM_scope} =~ /vehicle:read/"\n</RequireAll>',
        ),
      ],
      [ports.anybody, requiring('Require valid-user')],
    ]);
    const { id, secret } = await service.make.operatorClient(['token:introspect']);
    apache = await Apache.start(sites, { CLIENT_ID: id, CLIENT_SECRET: secret });
  });
  afterAll(() => apache?.stop());

  const answers = async (scope?: string): Promise<Record<string, number>> => {
    const authorization = `Bearer ${await service.make.clientToken(client, scope)}`;
    const all = Object.entries(ports).map(async ([name, port]) => {
      const { status } = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization } });
      return [name, status] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  };

  it('requests without a token, and with a wrong one, are refused', async () => {
    const refused: Record<string, string>[] = [{}, { authorization: 'Bearer wrong' }];
    for (const headers of refused) {
      const { status } = await fetch(`http://127.0.0.1:${ports.anybody}/`, { headers });
      expect(status).toBe(401);
    }
  });

  it('a scope is compared with the whole text, a pattern matches nothing, and an expression comes too early', async () => {
    expect(await answers('vehicle:read')).toEqual({
      shown: 200,
      pattern: 401,
      expression: 403,
      anybody: 200,
    });
    expect(await answers('charging_session:read vehicle:read')).toEqual({
      shown: 401,
      pattern: 401,
      expression: 403,
      anybody: 200,
    });
  });
});
