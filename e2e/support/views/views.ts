import type { Page } from 'playwright-core';
import { button } from '../clients/browser.ts';
import { FURTHER } from './further-views.ts';
import { OF_PEOPLE } from './people-views.ts';
import { STATES } from './states.ts';
import { conversation, dialog, form, panel, part, type View } from './ways.ts';

const ACCOUNT = ['My account', 'Rules', 'Users', 'Roles', 'Tool policies', 'Judge', 'Settings', 'Audit trail'];
const AGENT = ['Watches', 'Memories', 'Skills', 'Tool servers'];

const account = (name: string): View => ({
  name: `account-${toFileName(name)}`,
  open: (page) => part(page, 'Account', name),
});

const agent =
  (of: 'full' | 'empty') =>
  (name: string): View => ({
    name: `${of === 'empty' ? 'empty-' : ''}agent-${toFileName(name)}`,
    of,
    open: (page) => part(page, 'Agent', name),
  });

const dialogs: readonly View[] = [
  ['user', 'Account', 'Users', 'Add a user'],
  ['role', 'Account', 'Roles', 'Define a role'],
  ['policy', 'Account', 'Tool policies', 'Add a policy'],
  ['rule', 'Account', 'Rules', 'Add a rule'],
  ['skill', 'Agent', 'Skills', 'Add a skill'],
  ['server', 'Agent', 'Tool servers', 'Add a server'],
  ['import', 'Agent', 'Tool servers', 'Import…'],
  ['question', 'Account', 'Users', /^Delete grace/],
].map(([name, of, where, opener]) => ({
  name: `dialog-${name}`,
  open: (page: Page) => form(page, of === 'Account' ? 'Account' : 'Agent', [String(where), opener ?? '']),
}));

const PANELS = [
  ['dashboard', 'd', 'Dashboard'],
  ['inbox', 'i', 'Inbox'],
  ['schedule', 's', 'Schedule'],
  ['nodes', 'o', 'Nodes'],
  ['channels', 'c', 'Channels'],
  ['usage', 'u', 'Usage'],
] as const;

/** What is there a moment later than the view itself. */
const LATER: Readonly<Record<string, string>> = {
  nodes: 'button:enabled[aria-label="Approve Laptop of Grace"]', // cannot be pressed at once
};

const panels = (of: 'full' | 'empty'): View[] =>
  PANELS.map(([name, key, title]) => ({
    name: of === 'empty' ? `empty-${name}` : name,
    of,
    async open(page) {
      await panel(page, key, title);
      if (of === 'full' && LATER[name] !== undefined) await page.locator(LATER[name]).first().waitFor();
    },
  }));

/** A conversation, once `selector` is there. */
const conversationView = (name: string, title: string, selector: string): View => ({
  name: `conversation-${name}`,
  async open(page) {
    await conversation(page, title);
    await page.locator(selector).waitFor();
  },
});

const conversations: readonly View[] = [
  { name: 'conversation-empty', open: (page) => conversation(page, 'release notes') },
  {
    name: 'conversation-tools',
    async open(page) {
      await conversation(page, 'watering');
      await page.locator('.answer table').waitFor();
      await page.locator('.transcript').evaluate((element) => element.scrollTo(0, 0));
      await page.locator('.tool .diff-text').first().waitFor();
    },
  },
  conversationView('answer', 'watering', '.answer table'),
  conversationView('approval', 'mend the watering', '.approval.pending'),
  conversationView('question', 'release', '.approval.pending'),
  conversationView('running', 'plants', '.stop'),
  {
    name: 'suggestions',
    async open(page) {
      await conversation(page, 'main');
      await page.getByRole('textbox', { name: 'Message' }).fill('/');
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'notices',
    isScrolled: true,
    hasNotices: true,
    async open(page) {
      await conversation(page, 'daily summary');
      await page.locator('.banner').first().waitFor();
    },
  },
  {
    name: 'changes',
    async open(page) {
      await conversation(page, 'watering');
      await button(page, 'Changes on disk').click();
      await dialog(page);
    },
  },
  {
    name: 'find',
    isScrolled: true,
    async open(page) {
      await conversation(page, 'watering');
      await page.keyboard.press('Control+f');
      await page.locator('#find-in-conversation').first().fill('plant');
    },
  },
  {
    name: 'menu-mode',
    async open(page) {
      await conversation(page, 'watering');
      await page.locator('details.mode > summary').first().click();
    },
  },
  {
    name: 'files',
    async open(page) {
      await conversation(page, 'release notes');
      await button(page, 'Files').click();
      await button(page, 'src').waitFor();
    },
  },
  {
    name: 'file',
    async open(page) {
      await conversation(page, 'release notes');
      await button(page, 'Files').click();
      await button(page, 'src').click();
      await page.getByRole('button', { name: /^watering\.js/ }).click();
      await page.getByRole('region', { name: 'File src/watering.js' }).waitFor();
    },
  },
];

const rest: readonly View[] = [
  {
    name: 'filters',
    async open(page) {
      await button(page, 'Filters').click();
    },
  },
  {
    name: 'drawer',
    widths: [390],
    async open(page) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('button', { name: /^Workstreams/ }).click();
    },
  },
  {
    name: 'calendar',
    async open(page) {
      await panel(page, 's', 'Schedule');
      await page.locator('.calendar summary').click();
      await page.locator('.calendar-run').first().waitFor();
    },
  },
  {
    name: 'job-history',
    async open(page) {
      await panel(page, 's', 'Schedule');
      await button(page, 'History of morning round').click();
      await page.locator('.run').first().waitFor();
    },
  },
  {
    name: 'dialog-job',
    async open(page) {
      await panel(page, 's', 'Schedule');
      await button(page, 'Add a job').click();
      await page.getByRole('dialog').getByRole('textbox', { name: 'When' }).fill('0 9 * * 1-5');
      await page.locator('.schedule-preview li').nth(4).waitFor();
    },
  },
  {
    name: 'dialog-new',
    open: (page) =>
      button(page, 'New workstream')
        .click()
        .then(() => dialog(page)),
  },
  {
    name: 'dialog-saved',
    async open(page) {
      await button(page, 'Saved conversations').click();
      await page.getByRole('dialog').getByRole('searchbox').fill('watering'); // those of the same time have no order
      await page.locator('.saved-row').nth(2).waitFor({ state: 'detached' });
      await page.locator('.saved-row').first().waitFor();
    },
  },
  {
    name: 'dialog-keyboard',
    open: (page) =>
      button(page, 'Keyboard shortcuts')
        .click()
        .then(() => dialog(page)),
  },
];

/** Every view of the page for a person who is logged in. */
export const VIEWS: readonly View[] = [
  ...conversations,
  ...panels('full'),
  ...AGENT.map(agent('full')),
  ...ACCOUNT.map(account),
  ...rest,
  ...dialogs,
  ...[...STATES, ...FURTHER, ...OF_PEOPLE].map((view) => ({ ...view, isState: true })),
  { name: 'login', isOut: true, open: (page) => page.getByLabel('Password').waitFor() },
  { name: 'first-steps', of: 'empty', open: (page) => page.locator('.first-steps').waitFor() },
  { name: 'setup', of: 'empty', isOut: true, open: (page) => button(page, 'Create the first user').click() },
  ...panels('empty'),
  ...AGENT.map(agent('empty')),
];

function toFileName(words: string): string {
  return words.toLowerCase().replaceAll(' ', '-');
}
