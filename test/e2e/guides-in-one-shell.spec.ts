import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SHELVES } from '#entrypoints/api-docs/handbook/catalogue.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { WebhookKeys, writtenKey } from '#events/webhooks/signing/webhook-keys.service.js';
import { GuideShell, shellSamplesOf } from '../support/guide-shell.js';
import { isAccepted, madeOnce, until, useSharedService, WEBHOOK_ENV, Webhooks } from '../support/spec.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { endSandboxes } from '../support/sandbox.js';
import { listOf } from '../support/list-of.js';

/** What a reader puts in by hand, by the sample that asks for it. */
type ByHand = (sample: string) => string | undefined;

describe('A guide, pasted from the top into one shell,', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => service.make.user());
  const shells: GuideShell[] = [];

  beforeAll(async () => await service.make.consent(client, user));
  afterAll(async () => {
    await Promise.all(shells.map((shell) => shell.kill()));
    await endSandboxes(service);
  });

  const newShell = (): GuideShell => {
    const shell = GuideShell.start();
    shells.push(shell);
    return shell;
  };
  const credentialsOf =
    ({ id, secret }: TestClient): ByHand =>
    (sample) =>
      /^export CLIENT_ID=clnt…$/m.test(sample)
        ? sample.replace('clnt…', id).replace('cds_cs_…', secret)
        : undefined;
  const byHand =
    (...hands: ByHand[]) =>
    (sample: string): string => {
      for (const hand of hands) {
        const typed = hand(sample);
        if (typed !== undefined) return typed;
      }
      // Nothing else has to be put in.
      expect(sample).not.toContain('…');
      return sample;
    };
  const instead =
    (from: string, to: string): ByHand =>
    (sample) =>
      sample.includes(from) ? sample.replace(from, to) : undefined;

  /** Pastes all samples of a guide; `between` runs before the one that it is called with. */
  const paste = async (
    slug: string,
    typed: (sample: string) => string,
    between: (sample: string, outputs: string[]) => Promise<string | void> = () => Promise.resolve(),
  ): Promise<string[]> => {
    const shell = newShell();
    const outputs: string[] = [];
    for (const sample of await shellSamplesOf(service.http, slug))
      outputs.push(await shell.paste((await between(sample, outputs)) ?? typed(sample)));
    return outputs;
  };
  const jsonIn = (outputs: string[]): unknown[] =>
    outputs.filter((output) => /^[[{]/.test(output)).map((output) => JSON.parse(output) as unknown);

  it('gets a first token, and calls the API with it', async () => {
    const [token, users] = jsonIn(await paste('first-token', byHand(credentialsOf(client))));
    expect(token).toMatchObject({ token_type: 'Bearer' });
    expect(users).toEqual([expect.objectContaining({ id: user.id })]);
  });

  it('acts on behalf of a user, and ends with the grant', async () => {
    const browser = await service.make.signedIn(user);
    const typed = byHand(credentialsOf(client), instead('https://…', REDIRECT_URI));
    const outputs = await paste('on-behalf-of-a-user', typed, async (sample, before) => {
      if (!sample.startsWith('export CAME_BACK=')) return undefined;
      const sent = before.find((output) => output.includes('/o/authorize/?'))!;
      const cameTo = await browser.authorize(Object.fromEntries(new URL(sent).searchParams));
      return `export CAME_BACK='${cameTo.href}'`;
    });
    const [tokens, me] = jsonIn(outputs) as { access_token: string; id: string }[];
    expect(me!.id).toBe(user.id);
    expect(await isAccepted(service.http, tokens!.access_token)).toBe(false);
  });

  it('refreshes, and has the next refresh token for another time', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const typed = byHand(credentialsOf(client), instead('cds_rt_…', refresh_token));
    const [fresh] = jsonIn(await paste('refresh', typed)) as { access_token: string }[];
    expect(await isAccepted(service.http, fresh!.access_token)).toBe(true);
    const shell = shells.at(-1)!;
    const again = (await shellSamplesOf(service.http, 'refresh')).at(-1)!;
    const next = JSON.parse(await shell.paste(again)) as { access_token: string };
    expect(next.access_token).not.toBe(fresh!.access_token);
  });

  it('reads the feed on from where it was', async () => {
    const publish = async (id: string): Promise<string> =>
      (await webhooks.publish(user.id, { type: 'vehicle.updated', data: { id } })).json.id as string;
    const bearer = await service.make.clientToken(client);
    const shown = (id: string): Promise<void> =>
      until('the feed shows it', async () => {
        const { json } = await service.http.get('/v2/events?page_size=100', { bearer });
        return (json as { id: string }[]).some((event) => event.id === id);
      });
    const samples = () => shellSamplesOf(service.http, 'events-feed');
    const first = await publish('v1');
    await shown(first);
    let second = '';
    const outputs = await paste('events-feed', byHand(credentialsOf(client)), async (sample) => {
      if (!sample.includes('POSITION%')) return;
      second = await publish('v2');
      await shown(second);
    });
    const [, oldest, further] = jsonIn(outputs) as { id: string }[][];
    expect(oldest!.map(({ id }) => id)).toContain(first);
    expect(further!.map(({ id }) => id)).toEqual([second]);
    // Pasted again, it goes on from there.
    const third = await publish('v3');
    await shown(third);
    const again = JSON.parse(await shells.at(-1)!.paste((await samples()).at(-1)!)) as { id: string }[];
    expect(again.map(({ id }) => id)).toEqual([third]);
  });

  it('begins with an empty feed, and misses nothing that comes then', async () => {
    const [newClient, newUser] = [await service.make.client(), await service.make.user()];
    const outputs = await paste('events-feed', byHand(credentialsOf(newClient)), async (sample) => {
      if (sample.includes('POSITION%')) await service.make.consent(newClient, newUser);
    });
    const [, oldest, further] = jsonIn(outputs);
    const granted = { type: 'user.consent_granted', user_id: newUser.id };
    expect([oldest, further]).toEqual([[], [expect.objectContaining(granted)]]);
  });

  it('opens the portal, and forwards events to this machine in a terminal of its own', async () => {
    const hooks: string[] = [];
    const receiver: Server = createServer((request, response) => {
      hooks.push(request.headers['webhook-signature'] as string);
      request.resume();
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const here = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    try {
      const typed = byHand(credentialsOf(client), instead('whsec_…', 'whsec_AAAA'));
      const listening = newShell();
      await listening.paste(
        typed((await shellSamplesOf(service.http, 'webhooks')).find((each) => each.includes('clnt…'))!),
      );
      const outputs = await paste('webhooks', typed, async (sample) => {
        if (!sample.includes('npx --yes')) return undefined;
        const line = await listening.leaveRunning(sample.replace('http://localhost:4000/hook', here));
        expect(line).toContain(`Forwarding the events of ${service.url}`);
        return ':';
      });
      expect(outputs.join('\n')).toContain('/portal/login/');
      // It begins with what happens once it has reached the service.
      await until('an event is forwarded', async () => {
        await webhooks.publish(user.id, { type: 'vehicle.updated', data: { id: 'v3' } });
        return hooks.length > 0;
      });
      expect(hooks[0]).toMatch(/^v1,/);
    } finally {
      receiver.close();
    }
  });

  it('checks a signature with the public key', async () => {
    const endpoint = await webhooks.endpoint(client);
    await service.http.send(`/admin/webhook_endpoints/${endpoint.id}`, {
      ...{ method: 'PATCH', bearer: webhooks.bearer, json: { signature_versions: ['v1', 'v1a'] } },
    });
    await webhooks.publish(user.id);
    await webhooks.receives(endpoint);
    const [{ headers, body }] = webhooks.received(endpoint) as [ReceivedRequest];
    const [key] = await service.app.get(WebhookKeys).published(client.id);
    const outputs = await paste('webhook-keys', (sample) =>
      sample.startsWith('export WEBHOOK_KEY=')
        ? `cd "$(mktemp -d)"
           export WEBHOOK_KEY=${writtenKey(key!)} WEBHOOK_ID=${String(headers['webhook-id'])}
           export WEBHOOK_TIMESTAMP=${String(headers['webhook-timestamp'])}
           export WEBHOOK_SIGNATURE='${String(headers['webhook-signature'])}'
           printf '%s' '${body}' > body`
        : sample,
    );
    expect(outputs.at(-1)).toContain('Signature Verified Successfully');
    const wrong = await shells.at(-1)!.paste("printf 'x' >> body");
    expect(wrong).toBe('');
    const again = await shells.at(-1)!.paste((await shellSamplesOf(service.http, 'webhook-keys')).at(-1)!);
    expect(again).not.toContain('Successfully');
  });

  it('keeps a position of the feed before it moves to webhooks', async () => {
    const outputs = await paste('polling-to-webhooks', byHand(credentialsOf(await service.make.client())));
    expect(outputs.find((output) => output.startsWith(service.url))).toContain('/v2/events?');
    expect(jsonIn(outputs).at(-1)).toEqual([]);
  });

  it('makes a driver in the sandbox, connects it, and lets something happen and something fail', async () => {
    const sandbox = await service.make.client({ environment: 'sandbox' });
    const outputs = await paste('sandbox', byHand(credentialsOf(sandbox)));
    const [, driver, consent, session, fault] = jsonIn(outputs) as Record<string, unknown>[];
    expect(driver).toMatchObject({ name: 'Ada', seed: 42 });
    expect(consent).toMatchObject({ id: driver!.id, consented: true });
    expect(session!.events).toBeGreaterThan(0);
    expect(fault).toEqual({ kind: '429', count: 3 });
  });

  it('is one of these', async () => {
    const slugs: string[] = SHELVES[0].entries.map(({ slug }) => slug);
    const withSamples: string[] = [];
    for (const slug of slugs)
      if ((await shellSamplesOf(service.http, slug)).length > 0) withSamples.push(slug);
    expect(withSamples.sort()).toEqual(
      listOf(`
        events-feed, first-token, on-behalf-of-a-user, polling-to-webhooks, refresh, sandbox, webhooks, webhook-keys
      `).sort(),
    );
  });
});
