import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Result } from '../../../protocol/index.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { visit } from './browser.ts';

/** The password of every user that `newUser` adds. */
export const PASSWORD = 'correct horse';
/** What the browser’s console reports for a refused login, and for a connection that the daemon ends. */
export const REFUSED = /status of 40[013]/;
export const LOST = /WebSocket connection/;

export const connected = (page: Page) => page.locator('.link-open').waitFor();
export const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
export const dialog = (page: Page) => page.getByRole('dialog');
/** The buttons of the account view that lead to the administration. */
export const parts = (page: Page) => page.getByRole('navigation', { name: 'Parts of the account view' });

let people = 0;

/** Adds a user with a name that no other one has. */
export async function newUser(
  daemon: DaemonUnderTest,
  roles: string[],
  displayName = `person-${people + 1}`,
): Promise<Result<'user.create'>> {
  people += 1;
  const operator = await daemon.client();
  return operator.call('user.create', { username: `person-${people}`, displayName, password: PASSWORD, roles });
}

export async function fillLogin(page: Page, username: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Password').press('Enter');
}

interface Visitor {
  username: string;
  /** What the browser’s console may contain. */
  expected?: readonly RegExp[];
}

/** Opens the page as a new visitor who logs in. */
export async function visitAs(t: TestContext, daemon: DaemonUnderTest, { username, expected = [] }: Visitor) {
  const { page } = await visit(t, daemon, { loggedIn: false, expected });
  await fillLogin(page, username);
  await connected(page);
  return page;
}

/** Opens a part of the account view by the keyboard and its button. */
export async function openPart(page: Page, part: string): Promise<void> {
  await page.keyboard.press('Alt+a');
  await heading(page, 'Account').waitFor();
  await parts(page).getByRole('button', { name: part }).click();
  await page.getByRole('heading', { name: part, level: 2 }).waitFor();
}
