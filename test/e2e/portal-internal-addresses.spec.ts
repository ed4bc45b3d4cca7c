import { enterPortal, errorAt } from '../support/portal.js';
import { useSharedService } from '../support/test-service.js';

const NEW = '/portal/endpoints/new';

describe('An endpoint at an internal address', () => {
  const service = useSharedService();

  it.each([
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://localhost/',
    'https://169.254.169.254/',
    'https://printer/',
  ])('such as %s is refused early with the reason next to the field', async (url) => {
    const client = await service.make.client();
    const browser = await enterPortal(service, client);
    const fields = { url, event_types: 'vehicle.updated' };
    const page = await browser.fillIn(NEW, fields);
    expect(page.status).toBe(400);
    expect(errorAt(page, 'url')).toMatch(/^The URL must not point to an internal (address|name)/);
    expect(
      await service.database.query('SELECT 1 FROM webhook_endpoints WHERE client_id = $1', [client.id]),
    ).toEqual([]);
  });
});
