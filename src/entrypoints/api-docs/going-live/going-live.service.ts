import { Injectable } from '@nestjs/common';
import { REFUSALS } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import { DAY_MS } from '#platform/config/durations.js';
import type { MemberClient } from '#events/partners/members/member.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { GOING_LIVE_CHECKS, type Check } from './going-live-checks.js';

export interface JudgedCheck {
  title: string;
  hint: string;
  /** Undefined for what does not concern the client. */
  isDone: boolean | undefined;
}

/** How far a live client is on its way to live use (contract §24). */
@Injectable()
export class GoingLive {
  readonly checks: Check[] = [...GOING_LIVE_CHECKS];

  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly uses: SecretUsesService,
    private readonly endpoints: EndpointsService,
    private readonly members: MembersService,
    private readonly activity: ActivityService,
  ) {}

  /** Adds a check that a feature knows, behind another one. */
  add(behind: string, check: Check): void {
    this.checks.splice(this.checks.findIndex(({ title }) => title === behind) + 1, 0, check);
  }

  async judge({ id, organisationId }: MemberClient): Promise<JudgedCheck[]> {
    await Promise.all([this.uses.flush(), this.activity.flush()]);
    const [client, secrets, endpoints, members, refusals] = await Promise.all([
      this.clients.get(id),
      this.secrets.list(id),
      this.endpoints.list(id, { size: 50 }),
      this.members.all(organisationId),
      this.activity.ofClient(id, REFUSALS, new Date(Date.now() - DAY_MS)),
    ]);
    const facts = {
      ...{ client, secrets, endpoints: endpoints.items },
      members: members.length,
      refusals: refusals.reduce((sum, { count }) => sum + count, 0),
    };
    return Promise.all(
      this.checks.map(async ({ title, hint, judge }) => ({ title, hint, isDone: await judge(facts) })),
    );
  }
}
