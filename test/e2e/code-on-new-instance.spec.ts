import { ScopesRepository } from '#access/scopes/scopes.repository.js';
import { exchange, startInstance, useSharedService } from '../support/spec.js';

describe('A code that is exchanged at an instance that has just started', () => {
  const service = useSharedService();

  it('stays usable if the scopes of its tokens cannot be read', async () => {
    const there = await startInstance(service.database, { BASE_URL: service.url });
    try {
      const client = await service.make.client();
      const code = await service.make.code(client, await service.make.user());
      const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
      const reading = jest.spyOn(there.app.get(ScopesRepository), 'numbers').mockRejectedValueOnce(cut);
      expect((await exchange(there.http, client, code)).status).toBe(503);
      expect(reading).toHaveBeenCalledTimes(1);
      expect((await exchange(there.http, client, code)).status).toBe(200);
    } finally {
      await there.app.close();
    }
  });
});
