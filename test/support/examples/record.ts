import { IdentityProvider } from '../identity-provider.js';
import { MailServer } from '../mail-server.js';
import { startService } from '../test-service.js';
import { WEBHOOK_ENV } from '../webhooks.js';
import { recordAccess } from './access.js';
import { recordAdministration, recordEndings } from './administration.js';
import { recordApprovals } from './approvals.js';
import { FixedValues, fixedAddresses } from './fixed-values.js';
import { HeldReceiver } from './held-receiver.js';
import { recordLimits } from './limits.js';
import { recordNotifications, recordPartner } from './partner.js';
import { recordMemberPortal } from './member-portal.js';
import { Recorder } from './recorder.js';
import { recordSandbox } from './sandbox.js';
import { recordSignIn } from './sign-in.js';
import { Stage } from './stage.js';
import { recordWebhooks } from './webhook-deliveries.js';

/** Performs every documented operation on a service of its own, and returns what was recorded. */
export async function recordExamples(): Promise<Recorder> {
  const receiver = await HeldReceiver.start();
  const smtp = await MailServer.start();
  const provider = await IdentityProvider.open();
  const env = { ...WEBHOOK_ENV, ...smtp.env, ...provider.env({ accounts: 'verified_email' }) };
  const service = await startService({ env });
  try {
    provider.serveTo(service.url);
    const urls = { service: service.url, partner: receiver.url, provider: provider.url };
    const recorder = new Recorder(service.http, new FixedValues(fixedAddresses(urls)));
    const stage = await Stage.set(service, recorder, receiver);
    await recordAdministration(stage);
    await recordSignIn(stage, provider);
    await recordApprovals(stage);
    await recordPartner(stage, await recordAccess(stage));
    await recordNotifications(stage);
    await recordMemberPortal(stage);
    await recordSandbox(stage);
    await recordWebhooks(stage);
    await recordEndings(stage);
    await recordLimits(stage);
    return recorder;
  } finally {
    await service.stop();
    await Promise.all([receiver.stop(), smtp.stop(), provider.close()]);
  }
}
