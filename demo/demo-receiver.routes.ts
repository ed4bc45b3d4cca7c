import type { FastifyInstance } from 'fastify';
import type { Settings } from '#platform/config/settings.js';
import { verifySignature, type SignatureHeaders } from '#events/webhooks/signing/verify-signature.js';

const PATH = '/demo/receiver';
const BODY_MAX = 256 * 1024;

/** A URL of this process, at the loopback address that it listens on. */
export const ownUrl = ({ host, port }: Pick<Settings, 'host' | 'port'>, path: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;

/** Where the demonstration receives the events of its own sandbox. */
export const receiverUrl = (settings: Pick<Settings, 'host' | 'port'>): string => ownUrl(settings, PATH);

/**
 * Stands in for a partner's program that receives events: accepts those whose signature is right, says so to `onEvent`, and keeps
 * nothing.
 */
export function addDemoReceiver(fastify: FastifyInstance, secret: string, onEvent: () => void): void {
  void fastify.register((scope, _options, done) => {
    // The signature is about the bytes as they were sent.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_MAX }, (_request, body, parsed) =>
      parsed(null, body),
    );
    scope.post(PATH, async (request, reply) => {
      const body = typeof request.body === 'string' ? request.body : '';
      const check = verifySignature([secret], request.headers as SignatureHeaders, body);
      const isRight = check.matches && !check.warning;
      if (isRight) onEvent();
      return reply
        .status(isRight ? 200 : 401)
        .type('text/plain')
        .send(isRight ? 'The signature is right.' : 'The signature is wrong.');
    });
    done();
  });
}
