import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ActivityService } from '../activity/activity.service.js';

/**
 * Counts the errors of OAuth endpoints by reason, or else by error code, so that operators can see why a partner's requests fail.
 * Failed client authentications are counted where they happen, with their reasons.
 */
@Injectable()
export class RefusalCounts implements OnModuleInit {
  constructor(
    private readonly activity: ActivityService,
    private readonly server: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onResponse', ({ refusedWith, oauthClient, ip }, _reply, done) => {
      if (refusedWith !== undefined && refusedWith !== 'invalid_client') {
        this.activity.count({ kind: 'token_refused', detail: refusedWith, client: oauthClient, address: ip });
      }
      done();
    });
  }
}
