import { startService } from '../test-service.js';
import { WEBHOOK_ENV } from '../webhooks.js';
import { recordAccess } from './access.js';
import { recordAdministration, recordEndings } from './administration.js';
import { FixedValues, fixedAddresses } from './fixed-values.js';
import { HeldReceiver } from './held-receiver.js';
import { recordLimits } from './limits.js';
import { recordNotifications, recordPartner } from './partner.js';
import { Recorder } from './recorder.js';
import { Stage } from './stage.js';
import { recordWebhooks } from './webhook-deliveries.js';

/** Performs every documented operation on a service of its own, and returns what was recorded. */
export async function recordExamples(): Promise<Recorder> {
  const receiver = await HeldReceiver.start();
  const service = await startService({ env: WEBHOOK_ENV });
  try {
    const recorder = new Recorder(service.http, new FixedValues(fixedAddresses(service.url, receiver.url)));
    const stage = await Stage.set(service, recorder, receiver);
    await recordAdministration(stage);
    const userToken = await recordAccess(stage);
    await recordPartner(stage, userToken);
    await recordNotifications(stage);
    await recordWebhooks(stage);
    await recordEndings(stage);
    await recordLimits(stage);
    return recorder;
  } finally {
    await service.stop();
    await receiver.stop();
  }
}
