import type { TestInstance } from '../test-service.js';
import { OPERATIONS } from './recorder.js';
import type { Stage } from './stage.js';

/**
 * The refusals of callers over their limit: a partner's client over its own, the others by the address. `strict` is an instance
 * that allows an address few refused requests.
 */
export async function recordLimits(stage: Stage, strict: TestInstance): Promise<void> {
  const { owner } = stage.cast;
  const { make } = stage.service;
  const limited = await make.client({ name: 'Tariff finder', ownerId: owner.id, rateLimit: 1 });
  const bearer = await make.clientToken(limited);
  const { recorder } = stage;
  for (const [id, call] of stage.performed) {
    if (OPERATIONS.get(id)!.operation.tags.includes('Partners')) {
      await recorder.answerOnce(recorder.http, id, 429, { ...call, bearer });
    } else {
      // Over its limit, an address is refused whatever it sends.
      await recorder.answerOnce(strict.http, 'listAdminUsers', 429, { bearer: 'cds_at_EXAMPLE' });
      await recorder.answerOnce(strict.http, id, 429, call);
    }
  }
}
