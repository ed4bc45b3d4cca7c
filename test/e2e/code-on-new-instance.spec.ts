import { ScopesRepository } from '../../src/scopes/scopes.repository.js';
import { exchange } from '../support/oauth.js';
import { useService } from '../support/test-service.js';

describe('A code that is exchanged at an instance that has just started', () => {
  const service = useService({ instances: 2 });

  it('stays usable if the scopes of its tokens cannot be read', async () => {
    const there = service.instances[1]!;
    const client = await service.make.client();
    const code = await service.make.code(client, await service.make.user());
    const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    const reading = jest.spyOn(there.app.get(ScopesRepository), 'numbers').mockRejectedValueOnce(cut);
    expect((await exchange(there.http, client, code)).status).toBe(503);
    expect(reading).toHaveBeenCalledTimes(1);
    expect((await exchange(there.http, client, code)).status).toBe(200);
  });
});
