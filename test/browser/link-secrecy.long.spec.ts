import type { IncomingMessage, Server } from 'node:http';
import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { rateLimitExceeded } from '#platform/http/problems/problem.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import { SignUpService } from '#access/users/emails/sign-up.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PortalAccessService } from '#entrypoints/webhook-portal/access/portal-access.service.js';
import type { TestClient } from '../support/factory.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { useService } from '../support/test-service.js';
import { emailKey, portalLink, signUpKey } from './every-page.js';
import { answersWith, useBrowser } from './use-browser.js';

/** A one-time link, and how its page is used. */
interface Link {
  create(): Promise<string>;
  use(page: Page): Promise<void>;
  /** Makes the lookup of the link fail. */
  fail(error: Error): jest.SpyInstance;
}

describe('no Referer that a browser sends contains the key of', () => {
  const service = useService({ env: MAIL_ENV });
  const refused = answersWith(400, 403, 404, 410, 429, 500);
  const browser = useBrowser(
    // One test asks for something that the policy of the page refuses.
    (complaint, url) => refused(complaint, url) || complaint.includes('/health/live'),
  );
  let page: Page;
  let driver: UserEntity;
  /** Every request since the page was opened. */
  let seen: { path: string; referer: string | undefined }[];

  const links: Record<string, Link> = {
    'a password link': {
      create: () => service.app.get(PasswordLinksService).create(driver.id, SERVICE_ACTOR),
      use: async () => {
        await page.getByLabel('New password', { exact: true }).fill('a new long password');
        await page.getByLabel('Repeat new password').fill('a new long password');
        await page.getByRole('button', { name: 'Set password' }).click();
      },
      fail: (error) => jest.spyOn(service.app.get(PasswordLinksService), 'find').mockRejectedValue(error),
    },
    'a link that verifies an address': {
      create: async () =>
        `${service.url}/email/verify/${await emailKey(service, { driver, owner: driver, client: {} as TestClient })}`,
      use: () => page.getByRole('button', { name: 'Confirm address' }).click(),
      fail: (error) => jest.spyOn(service.app.get(EmailVerificationService), 'find').mockRejectedValue(error),
    },
    'a link to sign up': {
      create: async () =>
        `${service.url}/sign-up/${await signUpKey(service, { driver, owner: driver, client: {} as TestClient })}`,
      use: async () => {
        await page.getByLabel('Name').fill('A driver');
        await page.getByLabel('Password', { exact: true }).fill('a new long password');
        await page.getByLabel('Repeat password').fill('a new long password');
        await page.getByRole('button', { name: 'Create account' }).click();
      },
      fail: (error) => jest.spyOn(service.app.get(SignUpService), 'find').mockRejectedValue(error),
    },
    'a portal link': {
      create: async () => portalLink(service, { driver, owner: driver, client: await service.make.client() }),
      use: () => page.getByRole('button', { name: 'Open webhook portal' }).click(),
      fail: (error) => jest.spyOn(service.app.get(PortalAccessService), 'findLink').mockRejectedValue(error),
    },
  };

  beforeAll(() => {
    const server = service.app.getHttpServer() as Server;
    server.prependListener('request', ({ url, headers }: IncomingMessage) =>
      seen.push({ path: url!, referer: headers.referer }),
    );
  });
  beforeEach(async () => {
    seen = [];
    driver = await service.make.user();
    page = await browser.newPage();
  });

  /** Expects that the requests of the page, its style sheets and its links contained no key. */
  const expectSecret = (link: string): void => {
    const key = link.split('/').at(-1)!;
    expect(seen.some(({ path }) => path.includes(key))).toBe(true);
    expect(seen.filter(({ path }) => !path.includes(key)).length).toBeGreaterThan(0);
    expect(seen.filter(({ referer }) => referer?.includes(key))).toEqual([]);
    // The key was not hidden by omitting the header, which makes browsers send "Origin: null".
    expect(seen.some(({ referer }) => referer === `${service.url}/`)).toBe(true);
  };
  const followLink = async (): Promise<void> => {
    await page.getByRole('main').getByRole('link').first().click();
    await page.waitForLoadState();
  };

  describe.each(Object.entries(links))('%s', (_name, way) => {
    it('that works, and then no longer works', async () => {
      const link = await way.create();
      expect((await page.goto(link))!.status()).toBe(200);
      await way.use(page);
      await page.getByRole('link').first().waitFor();
      await page.waitForLoadState();
      expect((await page.goto(link))!.status()).toBe(410);
      await page.waitForLoadState();
      expectSecret(link);
    });

    it('whose form is refused', async () => {
      const link = await way.create();
      await page.goto(link);
      await page.context().clearCookies();
      const [answer] = await Promise.all([page.waitForResponse(link), way.use(page)]);
      expect(answer.status()).toBe(403);
      await followLink();
      expectSecret(link);
    });

    it('with extra characters after it', async () => {
      const link = await way.create();
      expect((await page.goto(`${link}/more`))!.status()).toBe(404);
      await followLink();
      expectSecret(link);
    });

    it.each([
      [429, rateLimitExceeded('There were too many requests.')],
      [500, new Error('out of order')],
    ])('whose page responds with %i', async (status, error) => {
      const link = await way.create();
      const failing = way.fail(error);
      try {
        expect((await page.goto(link))!.status()).toBe(status);
      } finally {
        failing.mockRestore();
      }
      await followLink();
      expectSecret(link);
    });

    it('that is malformed', async () => {
      const link = `${await way.create()}%zz`;
      expect((await page.goto(link))!.status()).toBe(400);
      await page.evaluate((path) => fetch(path), '/health/live').catch(() => undefined);
      const key = link.split('/').at(-1)!;
      expect(seen.filter(({ referer }) => referer?.includes(key))).toEqual([]);
    });
  });
});
