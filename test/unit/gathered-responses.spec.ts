import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { decorateReplies, GatheredResponses } from '#platform/http/server/gathered-responses.js';

const request = { id: 'a', routeOptions: { url: '/', config: {} } };
const reply = { request } as FastifyReply;

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
    const failing = { request, raw: { destroy } } as unknown as FastifyReply;
    const sent: unknown[] = [];
    responses.hold(failing, 'bad', () => {
      throw new Error('not even the error');
    });
    responses.hold(reply, 'good', (_error, payload) => void sent.push(payload));
    await endOfTurn();
    expect([destroy.mock.calls.length, sent]).toEqual([1, ['good']]);
  });
});

describe('Whoever awaits a reply', () => {
  let fastify: FastifyInstance;
  let origin: string;
  let seen: string[];
  let continued: Promise<void>;

  beforeEach(async () => {
    seen = [];
    let tell: () => void;
    continued = new Promise((resolve) => (tell = resolve));
    fastify = Fastify();
    decorateReplies(fastify);
    const responses = new GatheredResponses();
    fastify.addHook('onSend', (request, reply, payload, done) => {
      if (request.url !== '/unheld') return responses.hold(reply, payload, done);
      done(null, payload);
    });
    const noteEnd = async (reply: FastifyReply, path: string) => {
      await reply;
      seen.push(`${path} ${reply.sent ? 'sent' : 'not sent'}`);
      tell();
    };
    fastify.get('/held', async (_request, reply) => {
      reply.send('held');
      await noteEnd(reply, 'held');
      return reply;
    });
    fastify.get('/unheld', async (_request, reply) => {
      reply.send('unheld');
      await noteEnd(reply, 'unheld');
      return reply;
    });
    fastify.get('/stream', async (_request, reply) => {
      reply.send(Readable.from(['a', 'b']));
      await noteEnd(reply, 'stream');
      return reply;
    });
    fastify.get('/gone', async (request, reply) => {
      request.raw.destroy();
      reply.send('gone');
      await noteEnd(reply, 'gone');
      return reply;
    });
    fastify.get('/late', async (_request, reply) => {
      setTimeout(() => reply.send('late'));
      return reply;
    });
    fastify.get('/malformed', async (_request, reply) => {
      reply.header('x-name', 'line\nbreak').send('never sent');
      await noteEnd(reply, 'malformed');
      return reply;
    });
    fastify.setErrorHandler(
      (_error, _request, reply) => void reply.removeHeader('x-name').code(500).send('failed'),
    );
    origin = await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => fastify.close());

  const answerOf = async (path: string) => {
    const answer = await fetch(`${origin}/${path}`);
    return `${answer.status} ${await answer.text()}`;
  };

  it.each([
    ['held', '200 held'],
    ['unheld', '200 unheld'],
    ['stream', '200 ab'],
    ['malformed', '500 failed'],
  ])('continues once it has been sent: %s', async (path, expected) => {
    expect(await answerOf(path)).toBe(expected);
    await continued;
    expect(seen).toEqual([`${path} sent`]);
  });

  it('may return a reply that is sent later', async () => expect(await answerOf('late')).toBe('200 late'));

  it('continues although the caller has gone', async () => {
    await expect(answerOf('gone')).rejects.toThrow();
    await continued;
    expect(seen).toEqual(['gone sent']);
  });
});
