import { say, said, type Shown } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { isForeignKeyViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { Language } from '#platform/language/languages.js';
import { notFound, validationFailed } from '#platform/http/problems/problem.js';
import { isId, newId } from '#platform/secrets/ids.js';
import { MailsService } from '#records/mail/mails.service.js';
import type { Message, NotificationMailKind } from './message-catalogue.js';
import { storedTexts } from './notification-texts.js';
import type { NotificationCategory, NotificationEntity } from './notification.entity.js';
import { NotificationsRepository, type Marks, type NotificationFilter } from './notifications.repository.js';
import { violation } from '#platform/http/problems/violation.js';
import type { MailText } from '#records/mail/mail-content.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';

/** A notification of the service, or one that an operator wrote. */
type MailedNotification = Message & { externalLink?: string | null; externalButtonLabel?: string };

/** The kind of mail for a notification; undefined if it is not mailed. */
function mailKindOf({ mail, category }: Message): NotificationMailKind | undefined {
  return mail ?? (category === 'ACTIONABLE' ? 'actionable' : undefined);
}

const WHY: Record<NotificationMailKind, string> = {
  security: say('You always get mail about the security of your account.'),
  organisation: say('You always get mail about your access to the organisations that you belong to.'),
  application_connected: say(
    'You get this mail because you want to know about new applications. Change that here:',
  ),
  actionable: say('You get this mail because you want to know what needs your attention. Change that here:'),
};

/** Renders a notification as a mail, with the organisation behind the application that it is about. */
function notificationMail(
  kind: NotificationMailKind,
  message: MailedNotification,
  baseUrl: string,
): MailText {
  const { shortTextTitle, shortTextBody, detailPageTitle, detailPageBody, externalLink } = message;
  const { name, organisation } = message.application ?? {};
  const behind =
    name !== undefined && organisation && said('“{name}” is by {organisation}.', { name, organisation });
  const link = externalLink && /^https?:\/\//i.test(externalLink) ? externalLink : undefined;
  return {
    subject: shortTextTitle,
    application: message.application,
    paragraphs: [shortTextBody, behind, detailPageTitle, detailPageBody].filter(
      (text): text is Shown => !!text,
    ),
    action: link
      ? { label: message.externalButtonLabel ?? say('Open'), url: link }
      : { label: say('Open your account'), url: `${baseUrl}/account/notifications` },
    footer: [
      WHY[kind],
      ...(kind === 'security' || kind === 'organisation' ? [] : [`${baseUrl}/account/email`]),
    ],
  };
}

const BATCH = 1000;

export interface NewNotification {
  userId: string;
  clientId?: string | null;
  messageId: string;
  category: NotificationCategory;
  eventTime?: Date;
  shortTextTitle: string;
  shortTextBody: string;
  detailPageTitle?: string;
  detailPageBody?: string;
  externalLink?: string | null;
  externalButtonLabel?: string;
}

/** Notifications to users: raised, read, resolved (contract §8). */
@Injectable()
export class NotificationsService {
  constructor(
    private readonly repository: NotificationsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly mails: MailsService,
    private readonly settings: Settings,
  ) {}

  /** Newest first. */
  list(filter: NotificationFilter, page: PageRequest): Promise<Page<NotificationEntity>> {
    return this.repository.list(filter, page);
  }

  /** The notification, if it matches the filter; otherwise a 404 problem. */
  async get(id: string, filter: NotificationFilter): Promise<NotificationEntity> {
    const notification = isId('notf', id) ? await this.repository.find(id, filter) : null;
    if (!notification) throw notFound(say('There is no notification with this id.'));
    return notification;
  }

  /** Marks it read or resolved, each once. Marking it again changes nothing and is not audited. */
  async mark(
    id: string,
    filter: NotificationFilter,
    marks: Marks,
    actor: Actor,
  ): Promise<NotificationEntity> {
    await this.get(id, filter);
    await this.transactions.run(async () => {
      const marked = await this.repository.mark(id, marks);
      if (!marked) return;
      await this.audit.record(actor, {
        action: 'notification.marked',
        subjectId: id,
        after: { ...(marked.read ? { read: true } : {}), ...(marked.resolved ? { resolved: true } : {}) },
      });
    });
    return this.get(id, filter);
  }

  /** Marks those of the user as read that are no newer than this one, so that none is which the user has not seen. */
  async markReadUpTo(id: string, userId: string, actor: Actor): Promise<void> {
    if (!isId('notf', id)) throw notFound(say('There is no notification with this id.'));
    await this.transactions.run(async () => {
      const read = await this.repository.markReadUpTo(id, userId);
      await this.audit.recordAll(
        actor,
        read.map((subjectId) => ({ action: 'notification.marked', subjectId, after: { read: true } })),
      );
    });
  }

  /**
   * Raises one of the service's own notifications, in the caller's transaction, and queues the mail about it. `by`: who caused
   * it. If that is the user, and the account has no language, the mail is in the language of the request.
   */
  async raise(userId: string, clientId: string | null, given: Message, by?: Actor): Promise<void> {
    const id = newId('notf');
    const { bodyWithoutPasswords: detailPageBody } = given;
    const message = this.settings.passwordSignIn || !detailPageBody ? given : { ...given, detailPageBody };
    const { messageId, category } = message;
    const values = { id, userId, clientId, messageId, category, ...storedTexts(message) };
    await this.repository.insert(values);
    const isUser = by?.type === 'user' && (by.id === null || by.id === userId);
    await this.queueMail(id, userId, message, isUser ? by.language : undefined);
  }

  /** Creates a notification for an operator; throws a 400 problem for an unknown user or client. */
  async raiseByOperator(input: NewNotification, actor: Actor): Promise<NotificationEntity> {
    const id = newId('notf');
    try {
      return await this.transactions.run(async () => {
        await this.repository.insert({ ...input, id });
        await this.queueMail(id, input.userId, input);
        await this.audit.record(actor, {
          action: 'notification.raised',
          subjectId: id,
          after: { user_id: input.userId, message_id: input.messageId, category: input.category },
        });
        return (await this.repository.find(id, {}))!;
      });
    } catch (error) {
      if (isForeignKeyViolation(error, 'notifications_user_id_fkey')) {
        throw validationFailed({ user_id: [violation('unknown_id', { what: 'user' })] });
      }
      if (isForeignKeyViolation(error, 'notifications_client_id_fkey')) {
        throw validationFailed({ client_id: [violation('unknown_id', { what: 'client' })] });
      }
      throw error;
    }
  }

  private async queueMail(
    id: string,
    userId: string,
    message: MailedNotification,
    language?: Language,
  ): Promise<void> {
    const kind = mailKindOf(message);
    if (kind === undefined) return;
    const mail = notificationMail(kind, message, this.settings.baseUrl);
    await this.mails.queueForUser(userId, { kind, cause: `notification ${id}`, mail, language });
  }

  /** Resolves the notifications that resolve automatically and are due. */
  async resolveDue(): Promise<void> {
    while ((await this.repository.resolveDue(BATCH)) === BATCH);
  }
}

/** Resolves notifications that are due, every five seconds. */
@Injectable()
export class DueNotificationsWorker extends PeriodicWorker {
  constructor(
    private readonly notifications: NotificationsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    const failure = 'Resolving notifications stopped early';
    super({ everyMs: 5_000, failure, isEverywhere: true }, settings, schema);
  }

  protected work(): Promise<void> {
    return this.notifications.resolveDue();
  }
}
