import { readdirSync } from 'node:fs';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { WithoutFeatures } from '../support/without-features.js';

// Its types and lint, each by itself, and what its unit tests say of the rest: features.long.spec.ts, in the nightly run.
describe('The service without its features', () => {
  let database: TestDatabase;
  let copy: WithoutFeatures;
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    await SpawnedService.killAll();
    await copy.remove();
  });
  afterAll(() => database.drop());

  it('starts', async () => {
    copy = await WithoutFeatures.make(readdirSync('src/features'));
    expect(await copy.start(database)).toBe(0);
  });
});
