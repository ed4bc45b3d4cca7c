import { enterPortal, errorAt } from '../support/portal.js';
import { startService, type TestService } from '../support/test-service.js';

const NEW = '/portal/endpoints/new';

describe('An endpoint at an internal address', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each([
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://localhost/',
    'https://169.254.169.254/',
    'https://printer/',
  ])('such as %s is refused early with the reason next to the field', async (url) => {
    const browser = await enterPortal(service, await service.make.client());
    const fields = { url, event_types: 'vehicle.updated' };
    const page = await browser.submit(await browser.open(NEW), NEW, fields);
    expect(page.status).toBe(400);
    expect(errorAt(page, 'url')).toMatch(/^The URL must not point to an internal (address|name)/);
    expect(await service.database.query('SELECT 1 FROM webhook_endpoints')).toEqual([]);
  });
});
