import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, orNull } from '#platform/http/api/api-schemas.js';
import { NotificationView } from '#records/notifications/notification.view.js';

/** A notification as operators see it, with its user and the client it is about. */
@ApiSchema({ name: 'AdminNotification' })
export class AdminNotificationView extends NotificationView {
  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty(orNull(idOf('clnt')))
  client_id!: string | null;
}
