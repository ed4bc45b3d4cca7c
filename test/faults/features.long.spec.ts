import { readdirSync } from 'node:fs';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { WithoutFeatures } from '../support/without-features.js';

/** The documents speak of the service as a whole, and cite the tests of every feature. */
const ABOUT_DOCUMENTS = ['cited-tests', 'contract-citations', 'data-act', 'operators-guide'];

describe('The service without features', () => {
  let database: TestDatabase;
  let copy: WithoutFeatures;
  beforeAll(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    await SpawnedService.killAll();
    await copy.remove();
  });
  afterAll(() => database.drop());

  it('compiles and passes lint without all of them', async () => {
    copy = await WithoutFeatures.make(readdirSync('src/features'));
    await copy.check();
  });

  it.each(readdirSync('src/features'))(
    'compiles, passes lint, starts, and passes the unit tests of the rest: without %s',
    async (feature) => {
      copy = await WithoutFeatures.make([feature]);
      await copy.check();
      expect(await copy.start(database)).toBe(0);
      await copy.runUnitTests(ABOUT_DOCUMENTS);
    },
  );
});
