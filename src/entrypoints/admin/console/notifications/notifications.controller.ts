import { Context } from '#platform/http/page-routes/page-context.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import {
  NewNotificationDto,
  NotificationsQuery,
  toNewNotification,
} from '../../api/notifications/admin-notifications.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { attempt, formValue } from '../form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import {
  newNotificationPage,
  notificationsPage,
  NOTIFICATION_MEMBERS,
  NOTIFICATIONS_PATH,
  type NotificationFields,
} from './notifications.pages.js';

/** Notifications in the console: list and create. */
@ConsolePages('notifications')
export class ConsoleNotificationsController {
  constructor(
    private readonly notifications: NotificationsService,
    private readonly protection: OperatorProtectionService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(
      NotificationsQuery,
      context.url,
      ({ user_id: userId, client_id: clientId }, page) => this.notifications.list({ userId, clientId }, page),
    );
    const rows = list.page?.items ?? [];
    const names = await this.pickers.namesOf(rows.flatMap(({ userId, clientId }) => [userId, clientId]));
    return { page: notificationsPage(list, names, await this.offers()), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet('new', 'not asked', 'support')
  askForNew(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const userId = context.query.get('user_id') ?? '';
    return this.form({ user_id: userId, category: 'SERVICE' });
  }

  @ConsolePost('new', 'not asked', 'support')
  async raise(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const given = NOTIFICATION_MEMBERS.flatMap((name) => {
      const value = context.form.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const fields: NotificationFields = Object.fromEntries(given);
    const { errors } = await attempt(async () => {
      const input = toNewNotification(await formValue(NewNotificationDto, fields));
      await this.protection.refuseOn(context.actor, input.userId);
      return this.notifications.raiseByOperator(input, context.actor);
    });
    if (errors) return this.form(fields, errors);
    return { goTo: NOTIFICATIONS_PATH, notice: 'notification_raised' };
  }

  private async form(fields: NotificationFields, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const offers = await this.offers();
    return { page: newNotificationPage({ fields, offers, errors }), status: errors ? 400 : 200 };
  }

  private async offers() {
    const [users, clients] = await Promise.all([this.pickers.users(), this.pickers.clients()]);
    return { users, clients };
  }
}
