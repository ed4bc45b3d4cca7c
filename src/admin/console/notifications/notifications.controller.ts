import { FormBody } from '../../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { NotificationsService } from '../../../notifications/notifications.service.js';
import { NewNotificationDto, NotificationsQuery, toNewNotification } from '../../admin-notifications.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import {
  newNotificationPage,
  notificationsPage,
  NOTIFICATION_MEMBERS,
  NOTIFICATIONS_PATH,
  type NotificationFields,
} from './notifications.pages.js';

const NOTHING = { items: [], hasNext: false, hasPrevious: false };

/** Notifications in the console: all of them, and raised. */
@ConsolePages('notifications')
export class ConsoleNotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(NotificationsQuery, visit.url));
    if (errors) {
      return {
        html: notificationsPage({ frame: visit.frame, filter: {}, page: NOTHING, errors }),
        status: 400,
      };
    }
    const filter = { userId: query.user_id, clientId: query.client_id };
    const page = await this.notifications.list(filter, pageRequestOf(query));
    return { html: notificationsPage({ frame: visit.frame, filter, page }) };
  }

  @Shows('new')
  askForNew(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    const userId = Form.parse(queryStringOf(visit.url)).get('user_id') ?? '';
    return this.form(visit, { user_id: userId, category: 'SERVICE' });
  }

  @Does('new')
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
