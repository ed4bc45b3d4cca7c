import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { MemberRole } from '#events/partners/members/member.js';
import { MembersService } from '#events/partners/members/members.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, type Page } from './browser-session.js';
import { PASSWORD, type TestClient } from './factory.js';
import type { MailServer } from './mail-server.js';
import { newAddress } from './rate-limits.js';
import { useServiceWithMail, useSharedServiceWithMail } from './set-up.js';
import { PATIENT, type TestService, type TestServiceOptions } from './test-service.js';
import { WEBHOOK_ENV } from './webhooks.js';
import { openMembersPortal, signIn } from './without-pages.js';

let counter = 0;

export const SIGN_IN = '/portal/sign-in';
export const MEMBERS = '/portal/members';

export interface Organisation {
  service: TestService;
  smtp: MailServer;
  owner: UserEntity;
  /** The owner's. */
  client: TestClient;
  /** An address that nobody has. */
  email: string;
  newBrowser(this: void): BrowserSession;
  signedIn(this: void, user: UserEntity): Promise<BrowserSession>;
  openPortal(this: void, browser: BrowserSession, client?: TestClient): Promise<Page>;
  /** A browser of the user, in the portal of the client. */
  inPortal(this: void, user: UserEntity, client?: TestClient): Promise<BrowserSession>;
  member(this: void, role: MemberRole): Promise<UserEntity>;
  /** Sends the form that invites someone, `email` unless said otherwise. */
  invite(this: void, admin: BrowserSession, address?: string, role?: MemberRole): Promise<Page>;
}

/**
 * A service with mail for the tests, of the file alone if it has options, unless another is given; each test has a new organisation with a
 * client.
 */
export function setUpOrganisation(options?: TestServiceOptions, service?: TestService): Organisation {
  const env = { ...WEBHOOK_ENV, TRUSTED_PROXIES: '127.0.0.1', ...options?.env };
  const own = {
    ...(service
      ? { service }
      : options
        ? useServiceWithMail({ databaseOptions: PATIENT, ...options, env })
        : useSharedServiceWithMail()),
    // The pages of every test come from a network of their own, because only so many mails are sent from one.
    newBrowser: () => new BrowserSession(own.service.url, { 'x-forwarded-for': newAddress() }),
    signedIn: async (user) => {
      const browser = own.newBrowser();
      await signIn(own.service, browser, user.email, PASSWORD);
      return browser;
    },
    openPortal: async (browser, client = own.client) =>
      browser.submit(await browser.open(SIGN_IN), `${SIGN_IN}/${client.id}`),
    inPortal: async (user, client = own.client) => {
      const browser = await own.signedIn(user);
      await openMembersPortal(own.service, browser, client.id);
      return browser;
    },
    member: async (role) => {
      const user = await own.service.make.user({ emailVerified: true });
      await own.service.app.get(MembersService).add(own.owner.id, user.id, role, SERVICE_ACTOR);
      return user;
    },
    invite: async (admin, address = own.email, role = 'developer') =>
      admin.fillIn(MEMBERS, { email: address, role }),
  } as Organisation;
  beforeEach(async () => {
    own.owner = await own.service.make.user({ kind: 'organisation', emailVerified: true });
    own.client = await own.service.make.client({ ownerId: own.owner.id });
    own.email = `person${++counter}@partner.example`;
  });
  return own;
}
