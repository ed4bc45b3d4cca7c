import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { LANGUAGE_NAMES, type Language } from '#platform/language/languages.js';
import { say } from '#platform/language/text.js';
import { AuditService } from '#records/audit/audit.service.js';
import type { MailEntity } from '#records/mail/mail.entity.js';
import { MailsService } from '#records/mail/mails.service.js';
import type { NotificationEntity } from '#records/notifications/notification.entity.js';
import { textsIn } from '#records/notifications/notification-texts.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { inWords } from '../accounts/own-words.js';
import { recordOf, readUpTo, section } from '../accounts/personal-data.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { EmailLinksRepository } from '../emails/email-links.repository.js';
import { AuthenticatorAppsRepository } from '../factors/authenticator-apps.repository.js';
import { PasskeysRepository } from '../factors/passkeys.repository.js';
import { RecoveryCodesRepository } from '../factors/recovery-codes.repository.js';
import { PasswordLinksRepository } from '../passwords/password-links.repository.js';
import { browserNameOf } from '../sessions/browser-name.js';
import type { SessionEntity } from '../sessions/session.entity.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { AccountDeletionsRepository } from './account-deletions.repository.js';
import { DataExportsRepository } from './data-exports.repository.js';

/** What accounts hold about a person, and what the modules below them do: notifications, mails and the audit log. */
@Injectable()
export class UsersPersonalData {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly passkeys: PasskeysRepository,
    private readonly apps: AuthenticatorAppsRepository,
    private readonly codes: RecoveryCodesRepository,
    private readonly passwordLinks: PasswordLinksRepository,
    private readonly emailLinks: EmailLinksRepository,
    private readonly deletions: AccountDeletionsRepository,
    private readonly exports: DataExportsRepository,
    private readonly notifications: NotificationsService,
    private readonly mails: MailsService,
    private readonly audit: AuditService,
  ) {}

  @Answers('user.personal_data')
  profile() {
    return section({
      name: 'profile',
      place: 10,
      title: say('Your account'),
      about: say('Who you are here.'),
      read: async (userId: string) => {
        const user = await this.users.findById(userId);
        if (!user) return [];
        return [
          {
            id: user.id,
            name: user.name,
            email: user.email,
            email_confirmed_at: user.emailVerifiedAt,
            language: user.language,
            kind: user.kind,
            role: user.role,
            operator_role: user.operatorRole,
            enabled: user.enabled,
            webhook_portal: user.webhooksEnabled,
            mails_switched_off: await this.users.unwantedMails(userId),
            created_at: user.createdAt,
            changed_at: user.updatedAt,
          },
        ];
      },
      columns: {
        [say('ID')]: ({ id }) => id,
        [say('Name')]: ({ name }) => name,
        [say('Email')]: ({ email }) => email,
        [say('Address confirmed')]: ({ email_confirmed_at: at }) => at,
        [say('Language')]: ({ language }) => (language === null ? undefined : LANGUAGE_NAMES[language]),
        [say('Kind')]: ({ kind }) => inWords(kind),
        [say('Operator')]: ({ operator_role: role }) => (role === null ? undefined : inWords(role)),
        [say('Mails switched off')]: ({ mails_switched_off: kinds }) =>
          kinds.map((kind) => inWords(`mail.${kind}`)),
        [say('Created')]: ({ created_at: at }) => at,
        [say('Changed')]: ({ changed_at: at }) => at,
      },
    });
  }

  @Answers('user.personal_data')
  signInMethods() {
    return section({
      name: 'sign_in_methods',
      place: 40,
      title: say('How you log in'),
      about: say('What you can log in with here. Secrets are not stored in a form that could be shown.'),
      read: async (userId: string) => {
        const [user, passkeys, app, codes] = await Promise.all([
          this.users.findByIdWithPassword(userId),
          this.passkeys.list(userId),
          this.apps.find(userId),
          this.codes.count(userId),
        ]);
        const once = { last_used_at: null, backed_up: null, left: null };
        return [
          ...(user?.passwordHash ? [{ ...once, kind: 'password', name: null, added_at: null }] : []),
          ...passkeys.map((passkey) => ({
            ...once,
            kind: 'passkey',
            name: passkey.name,
            added_at: passkey.createdAt,
            last_used_at: passkey.lastUsedAt,
            backed_up: passkey.backedUp,
          })),
          ...(app ? [{ ...once, kind: 'authenticator_app', name: null, added_at: app.confirmedAt }] : []),
          ...(codes > 0
            ? [{ ...once, kind: 'recovery_codes', name: null, added_at: null, left: codes }]
            : []),
        ];
      },
      columns: {
        [say('Way')]: ({ kind }) => inWords(kind),
        [say('Name')]: ({ name }) => name,
        [say('Added')]: ({ added_at: at }) => at,
        [say('Last used')]: ({ last_used_at: at }) => at,
        [say('Left')]: ({ left }) => left,
      },
    });
  }

  @Answers('user.personal_data')
  sessionsOf() {
    return section({
      name: 'sessions',
      place: 50,
      title: say('Sessions'),
      about: say('Browsers in which you are logged in, or were until lately.'),
      read: async (userId: string, limit: number, language: Language) => {
        const idOf = ({ id }: SessionEntity) => id;
        const found = await readUpTo(limit, idOf, (page) => this.sessions.listOf(userId, page));
        return found.map((session) => ({
          ...recordOf(
            session,
            'id',
            'method',
            'secondFactor',
            'provider',
            'providerSubject',
            'address',
            'userAgent',
          ),
          browser: browserNameOf(session.userAgent, language),
          ...recordOf(session, 'createdAt', 'lastSeenAt', 'expiresAt'),
        }));
      },
      columns: {
        [say('Logged in')]: ({ created_at: at }) => at,
        [say('Last seen')]: ({ last_seen_at: at }) => at,
        [say('With')]: ({ method, provider }) => provider ?? inWords(method),
        [say('IP address')]: ({ address }) => address,
        [say('Browser')]: ({ browser }) => browser,
      },
    });
  }

  @Answers('user.personal_data')
  links() {
    return section({
      name: 'links',
      place: 55,
      title: say('Links that were made for you'),
      about: say('That a link was made or mailed. The links themselves are not stored.'),
      read: async (userId: string, limit: number) => {
        const user = await this.users.findById(userId);
        const passwordLinks = await this.passwordLinks.list(userId, limit);
        const emailLinks = user ? await this.emailLinks.list(userId, user.email, limit) : [];
        return [
          ...passwordLinks.map(({ purpose, expiresAt, usedAt }) => ({
            for: 'set_password',
            purpose,
            address: null,
            expires_at: expiresAt,
            used_at: usedAt,
          })),
          ...emailLinks.map(({ purpose, email, expiresAt, usedAt }) => ({
            for: purpose === 'verify' ? 'confirm_address' : 'sign_up',
            purpose: null,
            address: email,
            expires_at: expiresAt,
            used_at: usedAt,
          })),
        ].slice(0, limit);
      },
      columns: {
        [say('For')]: (link) => inWords(`link.${link.for}`),
        [say('Address')]: ({ address }) => address,
        [say('Worked until')]: ({ expires_at: at }) => at,
        [say('Used')]: ({ used_at: at }) => at,
      },
    });
  }

  @Answers('user.personal_data')
  leaving() {
    return section({
      name: 'leaving',
      place: 80,
      title: say('Data and deletion'),
      about: say('That you asked for your data, or for the deletion of your account.'),
      read: async (userId: string) => {
        const [taken, deletion] = await Promise.all([
          this.exports.findOf(userId),
          this.deletions.find(userId),
        ]);
        return [
          ...(taken
            ? [{ what: 'data', asked_at: taken.createdAt, until: taken.expiresAt, done_at: taken.usedAt }]
            : []),
          ...(deletion
            ? [{ what: 'deletion', asked_at: deletion.requestedAt, until: deletion.dueAt, done_at: null }]
            : []),
        ];
      },
      columns: {
        [say('What')]: ({ what }) => inWords(`leaving.${what}`),
        [say('Asked')]: ({ asked_at: at }) => at,
        [say('Until')]: ({ until }) => until,
        [say('Done')]: ({ done_at: at }) => at,
      },
    });
  }

  @Answers('user.personal_data')
  notificationsTo() {
    return section({
      name: 'notifications',
      place: 60,
      title: say('Notifications'),
      about: say('What you were told on your account page.'),
      read: async (userId: string, limit: number, language: Language) => {
        const idOf = ({ id }: NotificationEntity) => id;
        const found = await readUpTo(limit, idOf, (page) => this.notifications.list({ userId }, page));
        return found
          .map((each) => ({ ...each, ...textsIn(language, each) }))
          .map((each) => ({
            id: each.id,
            client_id: each.clientId,
            message_id: each.messageId,
            category: each.category,
            at: each.eventTime,
            title: each.shortTextTitle,
            text: each.shortTextBody,
            detail_title: each.detailPageTitle,
            detail_text: each.detailPageBody,
            link: each.externalLink,
            read_at: each.readAt,
            resolved_at: each.resolvedAt,
          }));
      },
      columns: {
        [say('Title')]: ({ title }) => title,
        [say('Text')]: ({ text }) => text,
        [say('When')]: ({ at }) => at,
        [say('Read')]: ({ read_at: at }) => at,
      },
    });
  }

  @Answers('user.personal_data')
  mailsTo() {
    return section({
      name: 'mails',
      place: 65,
      title: say('Mails'),
      about: say('That a mail was sent to you. What it said is not kept.'),
      read: async (userId: string, limit: number) => {
        const idOf = ({ id }: MailEntity) => id;
        const user = await this.users.findById(userId);
        // Whose address it is has to be proven, because a mail to it may have been for someone else.
        const address = user?.emailVerifiedAt ? user.email : undefined;
        const found = await readUpTo(limit, idOf, (page) => this.mails.list({ userId, address }, page));
        return found.map((mail) =>
          recordOf(mail, 'id', 'kind', 'address', 'state', 'attempts', 'createdAt', 'sentAt'),
        );
      },
      columns: {
        [say('About')]: ({ kind }) => inWords(`mail.${kind}`),
        [say('To')]: ({ address }) => address,
        [say('When')]: ({ created_at: at, sent_at: sent }) => sent ?? at,
        [say('State')]: ({ state }) => inWords(`mail_state.${state}`),
      },
    });
  }

  /** By whom: other people are named by what they are. */
  @Answers('user.personal_data')
  changes() {
    return section({
      name: 'changes',
      place: 70,
      title: say('What happened to your account'),
      about: say(
        'The record of changes to your account, by you and by others. What exactly changed is in the file.',
      ),
      read: async (userId: string, limit: number) => {
        const read = await readUpTo(limit, idOfEvent, (page) => this.audit.list({ subject: userId }, page));
        return read.map((event) => {
          const isOwn = event.actorId === userId;
          const isUnknown = event.actorType === 'user' && event.actorId === null;
          const others = { user: 'operator', client: 'application', service: 'service' }[event.actorType];
          return {
            id: event.id,
            at: event.occurredAt,
            action: event.action,
            by: isOwn ? 'you' : isUnknown ? 'unknown' : others,
            address: isOwn || isUnknown ? event.address : null,
            before: event.before,
            after: event.after,
          };
        });
      },
      columns: {
        [say('What')]: ({ action }) => inWords(action),
        [say('When')]: ({ at }) => at,
        [say('By')]: ({ by }) => inWords(`by.${by}`),
        [say('IP address')]: ({ address }) => address,
      },
    });
  }

  /**
   * What people did to others’ accounts and applications is theirs: only that it was done. What they did to their own account is among its
   * changes.
   */
  @Answers('user.personal_data')
  actions() {
    return section({
      name: 'actions',
      place: 75,
      title: say('What else you did'),
      about: say('The record of what you did here, other than to your own account.'),
      read: async (userId: string, limit: number) => {
        const filter = { actor: userId, exceptOn: userId };
        const read = await readUpTo(limit, idOfEvent, (page) => this.audit.list(filter, page));
        return read.map((event) => ({
          at: event.occurredAt,
          ...recordOf(event, 'id', 'action', 'subjectType', 'subjectId', 'address'),
        }));
      },
      columns: {
        [say('What')]: ({ action }) => inWords(action),
        [say('When')]: ({ at }) => at,
        [say('IP address')]: ({ address }) => address,
      },
    });
  }
}

const idOfEvent = ({ id }: AuditEventEntity): string => id;
