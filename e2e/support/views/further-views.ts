import type { Page } from 'playwright-core';
import { button } from '../clients/browser.ts';
import { ASIDES } from './aside-views.ts';
import { conversation, dialog, panel, part, type View } from './ways.ts';

/** Views of what is added to the full daemon last. */

const of = (kind: 'more' | 'empty', views: readonly Omit<View, 'of'>[]): View[] =>
  views.map((view) => ({ ...view, of: kind }));

const conversations = of('more', [
  {
    name: 'conversation-guide',
    async open(page) {
      await conversation(page, 'guide');
      await page.locator('.answer math, .answer .formula').first().waitFor();
      await page.locator('.diagram svg, .diagram iframe, .diagram img').first().waitFor();
      await page.locator('.transcript').evaluate((element) => element.scrollTo(0, 0));
    },
  },
  {
    name: 'conversation-busy',
    async open(page) {
      await conversation(page, 'harvest');
      await page.getByRole('list', { name: 'Waiting messages' }).locator('li').nth(1).waitFor();
      await page.locator('.agent-tree li').nth(1).waitFor();
      await page.locator('.background-item').first().waitFor();
      await page.locator('.todo').waitFor();
    },
  },
  {
    name: 'conversation-background',
    isStep: true,
    async open(page) {
      await page.locator('.background-item summary').first().click();
      await page.locator('.background-item pre').first().waitFor();
    },
  },
  {
    name: 'queue-editor',
    isStep: true,
    async open(page) {
      await page.locator('.background-item summary').first().click();
      await page.getByRole('list', { name: 'Waiting messages' }).getByRole('button', { name: /^Edit/ }).first().click();
      await page.locator('.queue textarea').waitFor();
    },
  },
  {
    name: 'conversation-plan',
    async open(page) {
      await conversation(page, 'shed');
      await page.locator('.approval.pending').getByText('Measure the wall').first().waitFor();
    },
  },
  {
    name: 'approval-allow',
    async open(page) {
      await conversation(page, 'pump');
      await button(page, 'Always allow…').click();
      await page.locator('.decide.allow').waitFor();
    },
  },
  {
    name: 'conversation-trouble',
    async open(page) {
      await conversation(page, 'frost');
      await page.getByRole('region', { name: 'Waiting for the model' }).waitFor();
    },
  },
  {
    name: 'conversation-coordinator',
    async open(page) {
      await conversation(page, 'summer');
      await page.getByRole('region', { name: 'Coordinator' }).locator('summary').click();
      await button(page, 'Stop everything').waitFor();
    },
  },
  {
    name: 'coordinator-tools',
    isStep: true,
    async open(page) {
      await button(page, 'Take tools away…').click();
      await page.locator('.coordinator-restrict').waitFor();
    },
  },
]);

/** Runs in the page: its browser would ask a server on the internet. */
function subscribe(key: string): void {
  const bytes = (text: string) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)).buffer;
  const found = {
    endpoint: 'https://push.example.org/1',
    options: { applicationServerKey: null },
    getKey: (name: string) => bytes(name === 'p256dh' ? key : 'AAECAwQFBgcICQoLDA0ODw=='),
    unsubscribe: async () => true,
  };
  Object.assign(PushManager.prototype, { getSubscription: async () => null, subscribe: async () => found });
}

/** The public key of a browser. */
const KEY = 'BIa0dEvhnxe_W1wSFR6O_jW_74WnZ_4Ez479aQ0AuORYT4K0JISi0nCtBX8vDeR25N_Fo6c1tKcbiWc-i4c_exg=';

const changes = of('more', [
  {
    name: 'files-changes',
    needs: 'git',
    async open(page) {
      await conversation(page, 'orchard');
      await page.keyboard.press('Alt+p');
      await button(page, 'Changes').click();
    },
    async arrange(page) {
      await page.locator('.git-changes li').nth(2).waitFor();
      await page.locator('.run-changes .diff-rows').nth(2).waitFor();
    },
  },
  {
    name: 'files-changes-undo',
    needs: 'git',
    isStep: true,
    open: (page) => page.locator('.git-changes li').first().waitFor(),
    async arrange(page) {
      if ((await page.locator('form.git-undo').count()) === 0) await button(page, 'Undo src/trees.js…').click();
      await page.locator('form.git-undo').waitFor();
      await page.locator('.run-changes .diff-rows').nth(2).waitFor();
    },
  },
  {
    name: 'files-found',
    async open(page) {
      await conversation(page, 'orchard');
      await page.keyboard.press('Alt+p');
      await page.locator('.files').waitFor();
    },
    async arrange(page) {
      await page.getByLabel('Find a file').fill('map');
      await page.locator('.files-found li').first().waitFor();
    },
  },
  {
    name: 'changes-undo',
    async open(page) {
      await conversation(page, 'orchard');
      await button(page, 'Changes on disk').click();
      await dialog(page);
      await button(page, 'Undo the last run…').click();
      await page.locator('.undo-question .conflict').waitFor();
    },
  },
]);

const panels = of('more', [
  {
    name: 'inbox-full',
    async open(page) {
      await panel(page, 'i', 'Inbox');
      await page.locator('.inbox article').nth(4).waitFor();
    },
  },
  {
    name: 'inbox-devices',
    isStep: true,
    async open(page) {
      await page.context().grantPermissions(['notifications']);
      await page.evaluate(subscribe, KEY);
      await page.locator('.notify summary').click();
      await button(page, 'Notify this browser').click();
      await page.locator('.notify-browser').first().waitFor();
    },
  },
  {
    name: 'channels-people',
    async open(page) {
      await panel(page, 'c', 'Channels');
      await page.getByRole('list', { name: 'People' }).locator('.panel-row').nth(1).waitFor();
      await page.getByRole('list', { name: 'Sent to chats' }).locator('.part').nth(1).waitFor();
    },
  },
  {
    name: 'channels-guide',
    isStep: true,
    async open(page) {
      await page.locator('.channel-help summary').first().click();
      await page.getByRole('button', { name: /^Revoke Mary/ }).click();
    },
  },
  {
    name: 'agent-watches-active',
    open: async (page) => {
      await part(page, 'Agent', 'Watches');
      await page.locator('.panel-row').getByText('Last output').click();
    },
  },
  {
    name: 'agent-memories-waiting',
    async open(page) {
      await part(page, 'Agent', 'Memories');
      await page.getByRole('button', { name: /^Release/ }).waitFor();
    },
  },
  {
    name: 'agent-memory-question',
    isStep: true,
    async open(page) {
      await page.getByRole('button', { name: /^Discard/ }).click();
      await page.getByRole('alertdialog').waitFor();
    },
  },
  {
    name: 'agent-tool-servers-failing',
    async open(page) {
      await part(page, 'Agent', 'Tool servers');
      await page.locator('.panel-row').nth(1).waitFor();
    },
  },
  {
    name: 'dialog-registry',
    isStep: true,
    async open(page) {
      await button(page, 'Registry…').click();
      await dialog(page);
    },
  },
  {
    name: 'dashboard-full',
    open: (page) => panel(page, 'd', 'Dashboard'),
  },
]);

/** What is behind a dialog would otherwise depend on when a notice was hidden. */
const toEnd = (page: Page) =>
  page.locator('.transcript').evaluate((element) => element.scrollTo(0, element.scrollHeight));

const emptyOnes = of('empty', [
  {
    name: 'first-steps-models',
    async open(page) {
      await page.locator('.first-steps').waitFor();
      await page.locator('.more-models summary').click();
      await page.locator('.provider-fields').waitFor();
    },
  },
  {
    name: 'first-steps-server',
    isStep: true,
    async open(page) {
      await page.getByLabel('Provider').selectOption('openai-compatible');
      await page.getByRole('textbox', { name: 'Address' }).waitFor();
    },
  },
  {
    name: 'empty-files',
    async open(page) {
      await page.locator('.first-steps').waitFor();
      await page.keyboard.press('Alt+p');
      await page.locator('.files').getByText('This folder is empty').waitFor();
    },
    arrange: toEnd,
  },
  {
    name: 'empty-saved',
    async open(page) {
      await button(page, 'Saved conversations').click();
      await dialog(page);
    },
    arrange: toEnd,
  },
]);

export const FURTHER: readonly View[] = [...conversations, ...ASIDES, ...changes, ...panels, ...emptyOnes];
