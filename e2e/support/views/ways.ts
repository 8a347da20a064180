import type { Page } from 'playwright-core';

/** Daemons that views are of. `accounts` has a provider through which people log in, and tool servers that need accounts. */
export const KINDS = ['full', 'more', 'accounts', 'empty'] as const;
export type Kind = (typeof KINDS)[number];

/** A view of the page, and how a person with an open page of 1280 px gets there. */
export interface View {
  name: string;
  /** The daemon; `more` is the full one after further things have been added to it. Default: `full`. */
  of?: Kind;
  /** Whether nobody is logged in. */
  isOut?: boolean;
  /** Whether somebody is logged in who may only read. */
  isReader?: boolean;
  /** Whether the login is older than changes of rights allow. Comes last of its daemon and person. */
  isLate?: boolean;
  /** Whether the notices of the page stay; other views are without them. */
  hasNotices?: boolean;
  /** Only on screens of these widths. */
  widths?: readonly number[];
  /** Begins where the view before it ended, without a new page: opening one takes most of the time. */
  isStep?: boolean;
  /** Opens from a view, or is shown only by a busy daemon. */
  isState?: boolean;
  /** How far it is scrolled depends on the widths before; its picture is compared only by `npm run baselines`, which has all of them. */
  isScrolled?: boolean;
  /** Shown only where this program is installed. */
  needs?: 'git';
  open(page: Page): Promise<unknown>;
  /** What is done again at each width, such as opening a menu, which has its place then. */
  arrange?(page: Page, width: number): Promise<unknown>;
}

export const dialog = (page: Page) => page.getByRole('dialog').waitFor();

/** A panel, by the key that opens it. */
export async function panel(page: Page, key: string, title: string): Promise<void> {
  await page.keyboard.press(`Alt+${key}`);
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await page.locator('.part-notice').waitFor({ state: 'detached' });
}

/** A part of the account view, or of the agent view. */
export async function part(page: Page, of: 'Account' | 'Agent', name: string): Promise<void> {
  await panel(page, of === 'Account' ? 'a' : 'g', of);
  await page
    .getByRole('navigation', { name: `Parts of the ${of.toLowerCase()} view` })
    .getByRole('button', { name, exact: true })
    .click();
}

/** A dialog of such a part. */
export async function form(page: Page, of: 'Account' | 'Agent', [name, opener]: readonly [string, string | RegExp]) {
  await part(page, of, name);
  await page.getByRole('button', { name: opener }).first().click();
  await page.locator('dialog[open], [role=alertdialog]').first().waitFor();
}

export async function conversation(page: Page, name: string): Promise<void> {
  // The name may be followed by what waits.
  await page.locator('.tab-main', { has: page.getByText(name, { exact: true }) }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
}
