import { tokenIn } from '#events/webhooks/receiver-tokens/token-answer.js';

const answered = (body: object) =>
  tokenIn({
    kind: 'response',
    status: 200,
    durationMs: 1,
    headers: [],
    bodyStart: JSON.stringify({ access_token: 'a', token_type: 'bearer', ...body }),
  });

describe('The life of a token for a receiver', () => {
  it.each<[unknown, number]>([
    [undefined, 3600],
    [null, 3600],
    [3600, 3570],
    ['3600', 3570],
    [10, 9],
    [0, 0],
    [-5, 0],
    ['soon', 0],
    [{}, 0],
  ])('with expires_in %j is %d s', (life, seconds) => {
    expect(answered({ expires_in: life })).toEqual({ kind: 'token', token: 'a', keptMs: seconds * 1000 });
  });

  it.each([undefined, 'DPoP', 'mac', 7, null])('does not begin with the type %j', (type) => {
    expect(answered({ token_type: type })).toMatchObject({ kind: 'failure', failure: 'token' });
  });
});
