import type { Page } from 'playwright-core';
import { button } from '../clients/browser.ts';
import { openList } from './states.ts';
import { conversation, dialog, form, panel, part, type View } from './ways.ts';

/** What depends on who looks, and on how long ago they logged in. */

/** As somebody sees it who may only read. */
const forReaders = (views: readonly Omit<View, 'isReader'>[]): View[] =>
  views.map((view) => ({ ...view, name: `reader-${view.name}`, isReader: true }));

const readers = forReaders([
  {
    name: 'conversation',
    async open(page) {
      await conversation(page, 'watering');
      await page.locator('.answer table').waitFor();
      await page.locator('.read-only').waitFor();
    },
  },
  {
    name: 'question',
    async open(page) {
      await conversation(page, 'mend the watering');
      await page.locator('.approval.pending').getByText('Read-only access').waitFor();
    },
  },
  {
    name: 'schedule',
    async open(page) {
      await panel(page, 's', 'Schedule');
      await page.getByText('morning round').first().waitFor();
    },
  },
  { name: 'nodes', open: (page) => panel(page, 'o', 'Nodes') },
  { name: 'skills', open: (page) => part(page, 'Agent', 'Skills') },
  { name: 'account', open: (page) => panel(page, 'a', 'Account') },
]);

/** Runs in the page: what was deleted stays until it is undone, however long the pictures take. */
function keepNotices(): void {
  const real = globalThis.setTimeout;
  const patched = (task: () => void, ms?: number) => (ms === 8_000 ? 0 : real(task, ms));
  Object.assign(globalThis, { setTimeout: patched });
}

const changes: readonly View[] = [
  {
    name: 'skill-versions',
    of: 'more',
    async open(page) {
      await part(page, 'Agent', 'Skills');
      await button(page, 'Earlier versions of release-notes').click();
      await dialog(page);
      await page.getByText('Version 2', { exact: true }).click();
    },
  },
  {
    name: 'deleted-undo',
    of: 'more',
    async open(page) {
      await page.evaluate(keepNotices);
      const name = 'a conversation with a name that is far too long for the list beside it';
      await button(page, `Options of ${name}`).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
      await button(page, 'Undo').waitFor();
    },
    arrange: openList,
  },
];

const askedAgain = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

const late: readonly View[] = [
  {
    name: 'confirm-login',
    of: 'more',
    isLate: true,
    async open(page) {
      await form(page, 'Account', ['Users', 'Add a user']);
      await page.getByRole('dialog').getByLabel('Username').fill('mary');
      await page
        .getByRole('dialog')
        .getByLabel(/^Password/)
        .fill('correct horse');
      await page.keyboard.press('Enter');
      await askedAgain(page).waitFor();
    },
  },
  {
    name: 'confirm-login-refused',
    of: 'more',
    isStep: true,
    async open(page) {
      await askedAgain(page).getByLabel('Password').fill('wrong');
      await page.keyboard.press('Enter');
      await askedAgain(page).getByText('The password is wrong.').waitFor();
    },
  },
];

const accounts: readonly View[] = [
  {
    name: 'accounts-logins',
    async open(page: Page) {
      await part(page, 'Account', 'My account');
      await page.getByRole('list', { name: 'Identities at a provider' }).waitFor();
    },
  },
  {
    name: 'accounts-user',
    async open(page: Page) {
      await form(page, 'Account', ['Users', 'Edit ada']);
      await page.getByText('Logs in through a provider as').waitFor();
      await page.getByText('Link an identity of a provider').click();
    },
  },
  {
    name: 'accounts-servers',
    async open(page: Page) {
      await part(page, 'Agent', 'Tool servers');
      await page.getByText('connected', { exact: false }).first().waitFor();
      await page.getByRole('link', { name: 'Connect… harvest-book' }).waitFor();
    },
  },
  {
    name: 'accounts-login',
    isOut: true,
    open: (page: Page) => page.getByRole('link', { name: /^Log in with/ }).waitFor(),
  },
  {
    name: 'accounts-login-password',
    isOut: true,
    isStep: true,
    open: (page: Page) => page.getByText('Log in with a password').click(),
  },
].map((view) => ({ ...view, of: 'accounts' }));

export const OF_PEOPLE: readonly View[] = [...readers, ...changes, ...late, ...accounts];
