import { HeldTimers } from '../support/held-timers.js';
import { madeOnce } from '../support/made.js';
import { useSharedService } from '../support/test-service.js';
import { until } from '../support/until.js';
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
});
