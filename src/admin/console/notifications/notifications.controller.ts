import { FormBody } from '../../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { NotificationsService } from '../../../notifications/notifications.service.js';
import { NewNotificationDto, NotificationsQuery, toNewNotification } from '../../admin-notifications.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
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
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(NotificationsQuery, context.url));
    if (errors) {
      const { user_id: userId, client_id: clientId } = typedFilter(context.url);
      const filter = { userId, clientId };
      return {
        html: notificationsPage({ layoutProps: context.layoutProps, filter, page: NOTHING, errors }),
        status: 400,
      };
    }
    const filter = { userId: query.user_id, clientId: query.client_id };
    const page = await this.notifications.list(filter, pageRequestOf(query));
    return { html: notificationsPage({ layoutProps: context.layoutProps, filter, page }) };
  }

  @ConsoleGet('new')
  askForNew(@Context() context: ConsoleContext): ConsoleAnswer {
    const userId = Form.parse(queryStringOf(context.url)).get('user_id') ?? '';
    return this.form(context, { user_id: userId, category: 'SERVICE' });
  }

  @ConsolePost('new', 'not asked')
  async raise(@Context() context: ConsoleContext, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const given = NOTIFICATION_MEMBERS.flatMap((name) => {
      const value = form.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const fields: NotificationFields = Object.fromEntries(given);
    const { errors } = await attempt(async () =>
      this.notifications.raiseByOperator(
        toNewNotification(await formValue(NewNotificationDto, fields)),
        context.actor,
      ),
    );
    if (errors) return this.form(context, fields, errors);
    return { goTo: NOTIFICATIONS_PATH, notice: 'notification_raised' };
  }

  private form(context: ConsoleContext, fields: NotificationFields, errors?: FieldErrors): ConsoleAnswer {
    const csrfToken = context.tokenFor(`${NOTIFICATIONS_PATH}/new`);
    const html = newNotificationPage({ layoutProps: context.layoutProps, fields, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }
}
