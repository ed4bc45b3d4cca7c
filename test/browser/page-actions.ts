import type { Locator, Page } from 'playwright-core';
import { PASSWORD } from '../support/factory.js';

/** For `describe.each` and `it.each`: every page works without scripts, of which before a landing the first ways (`…-ways.ts`) are enough. */
export const WITH_AND_WITHOUT_SCRIPTS: [string, boolean][] = [
  ['with JavaScript', true],
  ...(process.env.NIGHTLY ? [['with JavaScript switched off', false] satisfies [string, boolean]] : []),
];

/** A page to which a click leads is there when its first bytes are; what it shows can be read when it is whole. */
const clickOn = async (element: Locator): Promise<void> => {
  await element.click();
  await element.page().waitForLoadState('domcontentloaded');
};

export const press = (page: Page, name: string): Promise<void> =>
  clickOn(page.getByRole('button', { name, exact: true }));

/** Opens the menu of whoever is logged in, in the portal and the console. */
export const openVisitorMenu = (page: Page): Promise<void> => page.locator('.visitor summary').click();

/** Follows the only link of this name. */
export const follow = (page: Page, name: string): Promise<void> =>
  clickOn(page.getByRole('link', { name, exact: true }));

/** Follows the first link of this name: the navigation may have the same as the page below. */
export const followFirst = (page: Page, name: string): Promise<void> =>
  clickOn(page.getByRole('link', { name, exact: true }).first());

export const headingOf = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

export const headingIs = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

export const mainOf = (page: Page): Promise<string> => page.getByRole('main').innerText();

/** What the page says about the form that led to it. */
export const said = (page: Page): Promise<string> => page.getByRole('status').innerText();

/** The first of what it says where more than one place of the page may say something. */
export const saidFirst = (page: Page): Promise<string> => page.getByRole('status').first().innerText();

/** Fills in the login that the page shows. */
export async function logIn(page: Page, { email }: { email: string }, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await press(page, 'Log in');
}

/** Opens what can be done with an application on the page of the account. */
export const manage = (page: Page, name: string): Promise<void> =>
  page.locator('summary', { hasText: name }).click();
