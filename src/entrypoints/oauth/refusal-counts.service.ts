import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';

/** Refusals of credentials and of bearer tokens are counted where they happen, with their reasons. */
const COUNTED_BEFORE = new Set<string>(['invalid_client', 'invalid_token']);

/**
 * Counts the errors of OAuth endpoints by reason, or else by error code, so that operators can see why the requests of a
 * client fail, whichever way it authenticated.
 */
@Injectable()
export class RefusalCounts implements OnModuleInit {
  constructor(
    private readonly activity: ActivityService,
    private readonly server: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onResponse', ({ refusedWith, oauthClient, principal, ip }, _reply, done) => {
      if (refusedWith !== undefined && !COUNTED_BEFORE.has(refusedWith)) {
        const client = oauthClient ?? principal?.client;
        this.activity.count({ kind: 'token_refused', detail: refusedWith, client, address: ip });
      }
      done();
    });
  }
}
