import { startService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

describe('endpoints that hang', () => {
  let service: TestService;
  let webhooks: Webhooks;

  beforeAll(async () => {
    service = await startService({ env: WEBHOOK_ENV });
    webhooks = await Webhooks.start(service);
  });
  afterAll(async () => {
    await webhooks.stop();
    await service.stop();
  });

  it('hold up no other, however many hang at the same time', async () => {
    const [partner, other] = [await service.make.client(), await service.make.client()];
    const user = await webhooks.consentedUser(partner, other);
    for (let n = 0; n < 40; n++) await webhooks.endpoint(partner, { reply: () => undefined });
    const endpoint = await webhooks.endpoint(other);
    const began = Date.now();
    await Promise.all(Array.from({ length: 40 }, () => webhooks.publish(user.id)));
    // Long before the first of the others is given up, which takes 15 s.
    await until('the other has received all', () => webhooks.received(endpoint).length === 40, 12_000);
    expect(Date.now() - began).toBeLessThan(12_000);
    const hanging = webhooks.receiver.requests.filter(({ url }) => url !== endpoint.path);
    expect(hanging.length).toBeGreaterThan(300);
  });
});
