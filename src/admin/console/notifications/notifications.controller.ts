import { FormBody } from '../../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { NotificationsService } from '../../../notifications/notifications.service.js';
import { NewNotificationDto, NotificationsQuery, toNewNotification } from '../../admin-notifications.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
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
  constructor(private readonly notifications: NotificationsService) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(NotificationsQuery, visit.url));
    if (errors) {
      const { user_id: userId, client_id: clientId } = typedFilter(visit.url);
      const filter = { userId, clientId };
      return { html: notificationsPage({ frame: visit.frame, filter, page: NOTHING, errors }), status: 400 };
    }
    const filter = { userId: query.user_id, clientId: query.client_id };
    const page = await this.notifications.list(filter, pageRequestOf(query));
    return { html: notificationsPage({ frame: visit.frame, filter, page }) };
  }

  @ConsoleGet('new')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    const userId = Form.parse(queryStringOf(visit.url)).get('user_id') ?? '';
    return this.form(visit, { user_id: userId, category: 'SERVICE' });
  }

  @ConsolePost('new', 'not asked')
  async raise(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const given = NOTIFICATION_MEMBERS.flatMap((name) => {
      const value = form.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const fields: NotificationFields = Object.fromEntries(given);
    const { errors } = await attempt(async () =>
      this.notifications.raiseByOperator(
        toNewNotification(await formValue(NewNotificationDto, fields)),
        visit.actor,
      ),
    );
    if (errors) return this.form(visit, fields, errors);
    return { goTo: NOTIFICATIONS_PATH, notice: 'notification_raised' };
  }

  private form(visit: ConsoleVisit, fields: NotificationFields, errors?: FieldErrors): ConsoleAnswer {
    const csrfToken = visit.tokenFor(`${NOTIFICATIONS_PATH}/new`);
    const html = newNotificationPage({ frame: visit.frame, fields, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }
}
