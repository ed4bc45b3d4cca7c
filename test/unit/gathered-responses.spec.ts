import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { GatheredResponses } from '../../src/http/server/gathered-responses.js';

const reply = {} as FastifyReply;

describe('Responses made in one turn of the event loop', () => {
  let responses: GatheredResponses;
  let sent: unknown[];
  const answer = (text: string) => responses.hold(reply, text, (_error, payload) => void sent.push(payload));
  beforeEach(() => {
    responses = new GatheredResponses();
    sent = [];
    reply.isHeld = false;
  });

  it('are marked until they are sent, for those who would answer once more', async () => {
    answer('a');
    expect(reply.isHeld).toBe(true);
    await endOfTurn();
    expect(reply.isHeld).toBe(false);
  });

  it('are sent together at its end, in their order', async () => {
    ['a', 'b', 'c'].forEach(answer);
    await Promise.resolve();
    expect(sent).toEqual([]);
    await endOfTurn();
    expect(sent).toEqual(['a', 'b', 'c']);
  });

  it('are sent when there are sixteen, the others at the end', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => String(n));
    texts.forEach(answer);
    expect(sent).toEqual(texts.slice(0, 16));
    await endOfTurn();
    expect(sent).toEqual(texts);
  });

  it('are sent in the next turn too', async () => {
    answer('a');
    await endOfTurn();
    answer('b');
    await endOfTurn();
    expect(sent).toEqual(['a', 'b']);
  });
});

describe('A response that cannot be sent', () => {
  let fastify: FastifyInstance;
  let origin: string;
  let onError: (reply: FastifyReply) => FastifyReply;

  beforeEach(async () => {
    fastify = Fastify();
    const responses = new GatheredResponses();
    fastify.addHook('onSend', (_request, reply, payload, done) => responses.hold(reply, payload, done));
    fastify.get('/good', () => 'good');
    fastify.get('/malformed', (_request, reply) => reply.header('x-name', 'line\nbreak').send('never sent'));
    fastify.setErrorHandler(
      (_error, _request, reply) => void onError(reply).status(500).send({ failed: true }),
    );
    origin = await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => fastify.close());

  it('becomes an error response, and the others of the turn are sent', async () => {
    onError = (reply) => reply.removeHeader('x-name');
    const paths = ['/good', '/malformed', '/good', '/malformed', '/good'];
    const answers = await Promise.all(paths.map((path) => fetch(origin + path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 200, 500, 200]);
    expect(await answers[1]!.json()).toEqual({ failed: true });
  });

  it('ends its connection if not even the error can be sent', async () => {
    const destroy = jest.fn();
    const responses = new GatheredResponses();
    const failing = { raw: { destroy } } as unknown as FastifyReply;
    const sent: unknown[] = [];
    responses.hold(failing, 'bad', () => {
      throw new Error('not even the error');
    });
    responses.hold(reply, 'good', (_error, payload) => void sent.push(payload));
    await endOfTurn();
    expect([destroy.mock.calls.length, sent]).toEqual([1, ['good']]);
  });
});
