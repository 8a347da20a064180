import type { Page } from 'playwright-core';
import { button } from '../clients/browser.ts';
import { conversation, dialog, panel, part, type View } from './ways.ts';

/** What opens from a view: menus, forms, questions, and results of searches. */

/** The list of workstreams; on a phone it is a drawer. */
export async function openList(page: Page): Promise<void> {
  const opener = page.locator('.top-bar').getByRole('button', { name: /^Workstreams/ });
  if ((await opener.isVisible()) && !(await page.locator('.desk.drawn').count())) await opener.click();
}

const searchFor = (page: Page, words: string) =>
  page.getByRole('searchbox', { name: 'Search workstreams', includeHidden: true }).fill(words);

/** A search in the messages begins after a pause in typing; its words are read aloud once it has ended. */
const hasSearched = (page: Page) =>
  page.locator('.rail-notice [role=status]', { hasText: 'messages found' }).waitFor({ state: 'attached' });

/** The menu of the conversation with this label. */
const headMenu = (page: Page, label: string | RegExp) => page.locator('summary').and(page.getByLabel(label)).first();

const ofConversation: readonly View[] = [
  {
    name: 'menu-share',
    async open(page) {
      await conversation(page, 'watering');
      await page.locator('.answer table').waitFor();
      await headMenu(page, /^Who sees this/).click();
    },
  },
  {
    name: 'menu-export',
    isStep: true,
    open: (page) => headMenu(page, 'Export').click(),
  },
  {
    name: 'message-actions',
    isStep: true,
    async open(page) {
      await page.keyboard.press('Escape');
      await page.locator('.transcript').evaluate((element) => element.scrollTo(0, 0));
    },
    async arrange(page) {
      const more = page.locator('.message-more').first();
      if (await more.isVisible()) await more.click();
      else await button(page, 'Continue in a copy').first().focus();
    },
  },
  {
    name: 'message-editor',
    isStep: true,
    async open(page) {
      await button(page, 'Edit and send again').first().click();
      await page.getByRole('textbox', { name: 'Edited message' }).waitFor();
    },
    arrange: (page) => page.locator('.transcript').evaluate((element) => element.scrollTo(0, 0)),
  },
  {
    name: 'find-none',
    isStep: true,
    async open(page) {
      await button(page, 'Cancel').click();
      await page.keyboard.press('Control+f');
      await page.locator('#find-in-conversation').first().fill('lighthouse');
      await page.getByText('Nothing found').waitFor();
    },
  },
  {
    name: 'dialog-owner',
    isStep: true,
    async open(page) {
      await button(page, 'Close the search (Esc)').click();
      await headMenu(page, /^Who sees this/).click();
      await button(page, 'Give it to somebody else…').click();
      await page.getByLabel('Username of the new owner').fill('grace');
      await page.getByText('Afterwards').waitFor();
    },
  },
  {
    name: 'composer-filled',
    async open(page) {
      await conversation(page, 'release notes');
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles([
          {
            name: 'plan-of-the-garden-with-a-rather-long-name.md',
            mimeType: 'text/markdown',
            buffer: Buffer.from('# Garden\n'),
          },
          { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Basil\n') },
        ]);
      await page.locator('.chips li').nth(1).waitFor();
      const text = Array.from({ length: 14 }, (_, index) => `${index + 1}. A line of a longer message.`).join('\n');
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
    },
  },
  {
    name: 'approval-everything',
    async open(page) {
      await conversation(page, 'mend the watering');
      await button(page, 'Always allow…').click();
      await button(page, 'Yes, never ask here').waitFor();
    },
  },
  {
    name: 'approval-deny',
    isStep: true,
    async open(page) {
      await button(page, 'Back').click();
      await button(page, 'Deny all…').or(button(page, 'Deny…')).first().click();
      await page.locator('.decide.deny').waitFor();
    },
  },
];

const ofList: readonly View[] = [
  {
    name: 'menu-row',
    open: (page) => conversation(page, 'watering'),
    async arrange(page) {
      await page.keyboard.press('Escape');
      await openList(page);
      const row = page.locator('.tabs > li', { has: page.getByText('watering', { exact: true }) });
      await row.hover();
      await row.locator('.tab-more').click();
      await page.getByRole('menuitem').first().waitFor();
    },
  },
  {
    name: 'found-messages',
    async open(page) {
      await searchFor(page, 'basil');
      await page.locator('.message-hit').first().waitFor();
      await hasSearched(page);
    },
    arrange: openList,
  },
  {
    name: 'found-nothing',
    isStep: true,
    async open(page) {
      await openList(page);
      await searchFor(page, 'lighthouse');
      await page.locator('.message-hit').first().waitFor({ state: 'detached' });
      await page
        .locator('.tabs .empty')
        .or(page.getByText(/^No workstream has these words/))
        .first()
        .waitFor();
      await hasSearched(page);
    },
    arrange: openList,
  },
  {
    name: 'filters-on',
    isStep: true,
    async open(page) {
      await searchFor(page, '');
      await button(page, 'Filters').click();
      await page.locator('.filter-fields').getByRole('combobox', { name: 'Model' }).selectOption('lab');
      await page.getByRole('combobox', { name: 'Last used' }).selectOption('Today');
      await page.getByRole('textbox', { name: 'Name for these filters' }).fill('Work of today');
      await page.keyboard.press('Enter');
      await page.locator('.saved-filter-rows li').waitFor();
    },
    arrange: openList,
  },
];

const ofPanels: readonly View[] = [
  {
    name: 'inbox-notify',
    async open(page) {
      await panel(page, 'i', 'Inbox');
      await page.locator('.notify summary').click();
      await button(page, 'Notify this browser').waitFor();
    },
  },
  {
    name: 'dialog-job-edit',
    async open(page) {
      await panel(page, 's', 'Schedule');
      await button(page, 'Edit morning round').click();
      await dialog(page);
      await page.locator('.schedule-preview li').nth(4).waitFor();
    },
  },
  {
    name: 'new-token',
    async open(page) {
      await part(page, 'Account', 'My account');
      await page.getByRole('form', { name: 'Create an API token' }).getByLabel('Name').fill('backup');
      await button(page, 'Create token').click();
      await page.locator('.new-token').waitFor();
    },
  },
  {
    name: 'rule-tried',
    async open(page) {
      await part(page, 'Account', 'Rules');
      await page
        .getByRole('button', { name: /^Try without/ })
        .first()
        .click();
      await page
        .getByText(/^Of the latest|^No call/)
        .first()
        .waitFor();
    },
  },
  {
    name: 'dialog-skill-edit',
    async open(page) {
      await part(page, 'Agent', 'Skills');
      await button(page, 'Edit review').click();
      await dialog(page);
    },
  },
  {
    name: 'dialog-skill-source',
    isStep: true,
    async open(page) {
      await page.keyboard.press('Escape');
      await button(page, 'Skills of others…').click();
      await dialog(page);
    },
  },
  {
    name: 'skill-files',
    isStep: true,
    async open(page) {
      await page.keyboard.press('Escape');
      await button(page, 'Files of review').click();
      await page.getByRole('dialog').locator('.empty').waitFor();
    },
  },
];

export const STATES: readonly View[] = [...ofConversation, ...ofList, ...ofPanels];
