import { ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, time, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { MAIL_KINDS, MAIL_STATES, type MailEntity } from '#records/mail/mail.entity.js';

/** A mail as operators see it: that it was sent and why, never its content. */
@ApiSchema({ name: 'Mail' })
export class MailView extends viewOf<MailEntity>()({
  id: idOf('mail'),
  kind: oneOf(...MAIL_KINDS),
  user_id: orNull(idOf('user')),
  state: oneOf(...MAIL_STATES),
  attempts: whole('Attempts to send it so far.'),
  created_at: time(),
  sent_at: orNull(time('When the SMTP server took it.')),
}) {}
