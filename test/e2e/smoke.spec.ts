import { startService, type TestService } from '../support/test-service.js';

describe('smoke', () => {
  let service: TestService;
  beforeAll(async () => (service = await startService()));
  afterAll(() => service.stop());

  it('goes from consent to tokens to a refresh', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const tokens = await service.make.tokens(client, user);
    const answer = await service.http.token({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    });
    expect(answer.json).toMatchObject({ token_type: 'Bearer' });
    const again = await service.http.token({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    });
    expect(again.json.access_token).toBe(answer.json.access_token);
  });
});
