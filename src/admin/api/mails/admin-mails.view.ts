import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, time, whole } from '../../../http/api/api-schemas.js';
import { MAIL_KINDS, MAIL_STATES, type MailEntity } from '../../../mail/mail.entity.js';

/** A mail as operators see it: that it was sent and why, never its content. */
@ApiSchema({ name: 'Mail' })
export class MailView {
  @ApiProperty(idOf('mail'))
  id!: string;

  @ApiProperty(oneOf(...MAIL_KINDS))
  kind!: string;

  @ApiProperty(orNull(idOf('user')))
  user_id!: string | null;

  @ApiProperty(oneOf(...MAIL_STATES))
  state!: string;

  @ApiProperty(whole('Attempts to send it so far.'))
  attempts!: number;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(orNull(time('When the SMTP server took it.')))
  sent_at!: string | null;
}

export const mailView = (mail: MailEntity): MailView => ({
  id: mail.id,
  kind: mail.kind,
  user_id: mail.userId,
  state: mail.state,
  attempts: mail.attempts,
  created_at: mail.createdAt.toISOString(),
  sent_at: mail.sentAt?.toISOString() ?? null,
});
