import { startInstance, type TestInstance } from '../test-service.js';
import { OPERATIONS } from './recorder.js';
import type { Stage } from './stage.js';

/**
 * The refusals of callers over their limit: a partner's client over its own, the others by the address, on an instance that
 * allows an address few refused requests. That instance must not run while webhooks are recorded: its worker would deliver them.
 */
export async function recordLimits(stage: Stage): Promise<void> {
  const strict = await startInstance(stage.service.database, {
    BASE_URL: stage.service.url,
    OAUTH_RATE_LIMIT_PER_MINUTE: '1',
  });
  try {
    await recordEachLimit(stage, strict);
  } finally {
    await strict.app.close();
  }
}

async function recordEachLimit(stage: Stage, strict: TestInstance): Promise<void> {
  const { owner } = stage.cast;
  const { make } = stage.service;
  const limited = await make.client({ name: 'Tariff finder', ownerId: owner.id, rateLimit: 10 });
  const bearer = await make.clientToken(limited);
  const { recorder } = stage;
  for (const [id, call] of stage.performed) {
    if (OPERATIONS.get(id)!.operation.tags.includes('Partners')) {
      await recorder.answerOnce(id, 429, { ...call, bearer });
    } else {
      // Over its limit, an address is refused whatever it sends.
      const exceed = () => strict.http.get('/admin/users', { bearer: 'cds_at_EXAMPLE' });
      await recorder.answerOnce(id, 429, { ...call, http: strict.http }, exceed);
    }
  }
}
