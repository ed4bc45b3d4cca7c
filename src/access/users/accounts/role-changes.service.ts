import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { isHigher } from '#platform/config/operator-role.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import type { LinkedPerson } from '#access/domain/domain-events.js';
import { SignInWaysService } from './sign-in-ways.service.js';
import type { UserEntity } from './user.entity.js';

type Roles = Pick<UserEntity, 'operatorRole'>;

/** What belongs to a change of role, made by an admin, an approval, the operator’s tool or an identity provider. */
@Injectable()
export class RoleChanges {
  constructor(
    private readonly ways: SignInWaysService,
    private readonly events: DomainEvents,
    private readonly notifications: NotificationsService,
  ) {}

  /** Tells the user, by mail too: before the change, while the address is still verified. */
  async tell(id: string, before: Roles, after: Roles): Promise<void> {
    if (before.operatorRole === after.operatorRole) return;
    const message = MESSAGES.operatorRoleChanged(after.operatorRole, isGain(before, after));
    await this.notifications.raise(id, null, message);
  }

  /**
   * After the change of a locked user: a role that is gained, or higher than before, ends everything that opened the account; any other
   * change its sessions and password links. A role that is lost ends the clients that worked with it, and invitations that would give it
   * back.
   */
  async follow(
    id: string,
    before: Roles,
    after: Roles,
    actor: Actor,
    kept: { person?: LinkedPerson; isNew?: { password?: boolean; email?: boolean } } = {},
  ): Promise<void> {
    if (before.operatorRole === after.operatorRole) return;
    if (isGain(before, after)) await this.ways.endAll(id, actor, kept);
    else await this.ways.endSessions(id);
    if (after.operatorRole === null) await this.events.say('operator.ended', id, actor);
  }
}

/** Whether the role is higher than before. */
export const isGain = (before: Roles, after: Roles): boolean =>
  isHigher(after.operatorRole, before.operatorRole);
