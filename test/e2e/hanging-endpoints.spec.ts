import { Resolver } from 'node:dns/promises';
import { HeldTimers } from '../support/held-timers.js';
import { madeOnce, until, useSharedService } from '../support/spec.js';
import { NameServer } from '../support/name-server.js';
import { type TestEndpoint, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

describe('Endpoints that hang', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  const webhooks = madeOnce(() => Webhooks.start(service));

  it('do not delay other endpoints, however many hang at the same time', async () => {
    const [partner, other] = [await service.make.client(), await service.make.client()];
    const user = await webhooks.consentedUser(partner, other);
    const hanging: TestEndpoint[] = [];
    for (let n = 0; n < 40; n++) hanging.push(await webhooks.endpoint(partner, { reply: () => undefined }));
    const endpoint = await webhooks.endpoint(other);
    // The hanging deliveries never reach their limit of 15 s here: anything that waited for them would wait forever.
    const limit = HeldTimers.hold(10_000, 15_000);
    try {
      await Promise.all(Array.from({ length: 10 }, () => webhooks.publish(user.id)));
      await until('the other has received all', () => webhooks.received(endpoint).length === 10);
      // Each keeps at least four attempts in hand, also when the worker has noticed that it is slow.
      await until('the others hang', () => hanging.every((each) => webhooks.received(each).length >= 4));
    } finally {
      limit.release();
      await service.make.deleteClient(partner);
    }
  });

  it('for want of an answer to their names do not delay endpoints with other names', async () => {
    const names = await NameServer.start(() => ['127.0.0.1']);
    const asking = askOnly(names);
    const [partner, other] = [await service.make.client(), await service.make.client()];
    const user = await webhooks.consentedUser(partner, other);
    const silent: TestEndpoint[] = [];
    for (let n = 0; n < 8; n++)
      silent.push(await webhooks.endpoint(partner, { host: `silent${n}.partner.test` }));
    const endpoint = await webhooks.endpoint(other, { host: 'alive.partner.test' });
    names.asked.length = 0;
    names.says = (name) => (name.startsWith('silent') ? undefined : ['127.0.0.1']);
    try {
      const { json } = await webhooks.publish(user.id);
      await webhooks.receives(endpoint);
      const deliveries = await webhooks.deliveriesOf(json.id as string);
      const delivered = await webhooks.finished(
        deliveries.find(({ endpoint_id }) => endpoint_id === endpoint.id)!.id,
      );
      // At its first attempt: none had waited for a name until its time was over.
      expect(delivered).toMatchObject({ state: 'delivered', attempts: 1 });
      await until('the others are looked up', () =>
        silent.every((_, n) => names.asked.some((name) => name.startsWith(`silent${n}.`))),
      );
      expect(silent.flatMap((each) => webhooks.received(each))).toEqual([]);
    } finally {
      asking.mockRestore();
      await service.make.deleteClient(partner);
    }
  });
});

/** Names are asked for there alone; hosts are named by what the machine does not search for. */
function askOnly(names: NameServer) {
  const { resolve4 } = Resolver.prototype as {
    resolve4: (this: Resolver, name: string) => Promise<string[]>;
  };
  return jest.spyOn(Resolver.prototype, 'resolve4').mockImplementation(function (
    this: Resolver,
    name: string,
  ) {
    this.setServers([names.address]);
    return resolve4.call(this, name) as never;
  });
}
