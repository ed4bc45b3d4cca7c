import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import type { ClientChanges, NewClient } from '#access/clients/client.resource.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { conflict } from '#platform/http/problems/problem.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import type { UserChanges } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import {
  PASSWORD_HASH,
  type ApprovalAction,
  type ApprovalDetails,
  type ApprovalEntity,
} from './approval.entity.js';

/** What the approved action created, shown once to the person who approved it; it is not stored. */
export type ShownOnApproval =
  | { passwordLink: string }
  | { secret: string; isNew: boolean; previousSecretExpiresAt: Date | null };

type CarryOut = (
  subjectId: string,
  details: ApprovalDetails,
  actor: Actor,
) => Promise<ShownOnApproval | undefined>;

/** Carries out an approved action in the transaction of the approval, with the approving admin as the actor. */
@Injectable()
export class ApprovedActions {
  private readonly actions: Record<ApprovalAction, CarryOut>;

  constructor(
    users: UsersService,
    clients: ClientsService,
    secrets: ClientSecretsService,
    passwordLinks: PasswordLinksService,
    factors: SecondFactorService,
    identities: IdentitiesService,
  ) {
    const done = async (work: Promise<unknown>): Promise<undefined> => void (await work);
    this.actions = {
      'user.erase': (id, _details, actor) => done(users.erase(id, actor)),
      'user.make_admin': async (id, { email }, actor) => {
        const admin = { role: 'operator', operatorRole: 'admin' } as const;
        const { email: now } = await users.update(id, admin, actor);
        // If the address has changed, the new admin's account could be opened by someone else.
        if (email !== undefined && email !== now) {
          throw conflict(
            'This user has another email address than when this was asked for. Reject it and ask again.',
          );
        }
        return undefined;
      },
      'user.update': (id, { [PASSWORD_HASH]: passwordHash, ...changes }, actor) =>
        done(
          users.update(
            id,
            {
              ...(changes as UserChanges),
              ...(passwordHash ? { passwordHash: passwordHash as string } : {}),
            },
            actor,
          ),
        ),
      'user.create_password_link': async (id, _details, actor) => ({
        passwordLink: await passwordLinks.create(id, actor),
      }),
      'user.reset_second_factor': (id, _details, actor) => done(factors.reset(id, undefined, actor)),
      'user.remove_identity': (id, { provider }, actor) =>
        done(identities.remove(id, provider as string, actor)),
      'client.create': async (id, details, actor) => {
        const { secret } = await clients.register(id, details as unknown as NewClient, actor);
        return secret === undefined ? undefined : { secret, isNew: true, previousSecretExpiresAt: null };
      },
      'client.update': async (id, details, actor) => {
        const { secret } = await clients.update(id, details as ClientChanges, actor);
        return secret === undefined ? undefined : { secret, isNew: false, previousSecretExpiresAt: null };
      },
      'client.rotate_secret': async (id, { expirePreviousIn }, actor) => ({
        ...(await secrets.rotate(id, expirePreviousIn as number, actor)),
        isNew: false,
      }),
      'client.delete': (id, _details, actor) => done(clients.delete(id, actor)),
    };
  }

  carryOut(
    { action, subjectId, details }: ApprovalEntity,
    actor: Actor,
  ): Promise<ShownOnApproval | undefined> {
    return this.actions[action](subjectId, details ?? {}, actor);
  }
}
