import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openDrawer, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

declare global {
  interface Window {
    themeAtFirst: string | undefined;
  }
}

const { model, daemon } = await openStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });
const contentOf = (name: string) =>
  readFile(path.join(daemon.home, 'workspace', name), 'utf8').catch(() => 'not there');
const focusIsIn = (page: Page, selector: string) =>
  page.waitForFunction((wanted) => document.activeElement?.closest(wanted) !== null, selector);
const theme = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('global shortcuts open the list of keys, neighbouring workstreams, a new workstream and the composer', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'first');
  await openWorkstream(page, 'second');
  await focusIsIn(page, '#message');
  await page.keyboard.type('what?');
  assert.equal(await page.getByRole('dialog').count(), 0, 'typing a question mark in a field opens no dialog');
  await page.getByRole('tab', { name: 'second' }).focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  for (let presses = 0; presses < 4; presses += 1) {
    await page.keyboard.press('Tab'); // after the last element the focus moves to the browser's own buttons, and no element has it
    assert.equal(await page.locator('.rail :focus, .stage :focus').count(), 0);
  }
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await focusIsIn(page, '[role=tab]');
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByRole('heading', { name: 'first', level: 1 }).waitFor();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByRole('heading', { name: 'second', level: 1 }).waitFor();
  await page.keyboard.press('Alt+m');
  await focusIsIn(page, '#message');
  await page.keyboard.press('Alt+w');
  await page.getByRole('dialog', { name: 'New workstream' }).waitFor();
  await page.keyboard.type('third');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'third', level: 1 }).waitFor();
  await focusIsIn(page, '#message');
});

test('after a new workstream is created, the focus is in its message field, even if the conversations arrive late', async (t) => {
  const { context } = await visit(t, daemon);
  const page = await context.newPage();
  const arrival = Promise.withResolvers<void>();
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage(async (frame) => {
      if (frame.includes('"pendingApprovals"')) await arrival.promise;
      socket.send(frame);
    });
  });
  await page.goto(daemon.url);
  await page.getByRole('tab', { selected: true }).waitFor();
  await button(page, 'New workstream').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('late');
  await page.getByRole('textbox', { name: 'Name' }).press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('#message').count(), 0);
  arrival.resolve();
  await focusIsIn(page, '#message');
});

test('the list of workstreams is one tab stop; arrows move, F2 renames, Delete closes', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'walk a');
  await openWorkstream(page, 'walk b');
  const tab = page.getByRole('tab', { name: 'walk b' });
  await tab.focus();
  await page.keyboard.press('ArrowUp');
  assert.match((await page.locator(':focus').getAttribute('title')) ?? '', /^walk a/);
  await page.keyboard.press('End');
  assert.match((await page.locator(':focus').getAttribute('title')) ?? '', /^walk b/);
  await page.keyboard.press('F2');
  const field = page.getByRole('textbox', { name: 'New name' });
  await field.fill('main');
  await field.press('Enter');
  await page.getByText("The name 'main' is reserved").waitFor();
  await field.press('Escape');
  await tab.focus();
  await page.keyboard.press('Delete');
  await tab.waitFor({ state: 'detached' });
  await page.getByRole('tab', { selected: true }).waitFor(); // another workstream is selected now
  await page.keyboard.press('Alt+r');
  await page.getByRole('textbox', { name: 'New name' }).fill('renamed above');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'renamed above', level: 1 }).waitFor();
});

test('keys decide an approval only when it has the focus', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'by keys');
  model.when('by keys', bash('echo ran >> keys.txt'), bash('echo again >> keys.txt'), say('Done.'));
  await send(page, 'by keys');
  await page.locator('.approval.pending').waitFor();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.click();
  for (const key of ['Alt+y', 'y', 'n', 'Alt+n']) await page.keyboard.press(key);
  assert.equal(await page.getByRole('textbox', { name: /What should it do instead/ }).count(), 0);
  assert.equal(await contentOf('keys.txt'), 'not there');
  await page.keyboard.press('Alt+q');
  await focusIsIn(page, '.approval.pending');
  for (const key of ['y', 'Enter', 'Space']) await page.keyboard.press(key);
  assert.equal(await contentOf('keys.txt'), 'not there');
  await page.keyboard.press('Alt+y');
  await page.locator('.outcome.approved').waitFor();
  await page.locator('.approval.pending', { hasText: 'echo again' }).waitFor();
  await page.keyboard.press('Alt+q');
  await page.keyboard.press('Alt+n');
  await page.keyboard.type('enough');
  await page.keyboard.press('Enter');
  await page.locator('.outcome.denied', { hasText: 'enough' }).waitFor();
  assert.equal(await contentOf('keys.txt'), 'ran\n');
});

test('Escape stops a run only when pressed twice, and not while a word is composed', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'escape');
  model.when('on and on', [say('Once upon a time'), stall()]);
  await send(page, 'on and on');
  await page.locator('.answer', { hasText: 'Once upon a time' }).waitFor();
  await page.evaluate(() => {
    const composing = { key: 'Escape', isComposing: true, bubbles: true, cancelable: true };
    for (const _ of [1, 2, 3]) document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', composing));
  });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Esc again to stop' }).waitFor();
  await state(page, 'thinking');
  await page.keyboard.press('Escape');
  await page.locator('.answer', { hasText: 'Stopped here.' }).waitFor();
  await state(page, 'idle');
});

test('the theme follows the system until one is chosen; the choice applies before the first paint and in every tab', async (t) => {
  const { page, context, openTab } = await visit(t, daemon);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await theme(page);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await theme(page);
  assert.notEqual(dark, light);
  const other = await openTab();
  await button(page, 'Colours: system').click();
  await button(page, 'Colours: light').click();
  await button(page, 'Colours: dark').waitFor();
  assert.equal(await theme(page), dark);
  await button(other, 'Colours: dark').waitFor();
  assert.equal(await theme(other), dark);
  const early = await context.newPage();
  await early.addInitScript(() => {
    // The page's module runs when the document is complete; its body exists before that.
    new MutationObserver((_changes, observer) => {
      if (!document.body) return;
      observer.disconnect();
      window.themeAtFirst = document.documentElement.dataset.theme;
    }).observe(document, { childList: true, subtree: true });
  });
  await early.goto(daemon.url);
  assert.equal(await early.evaluate(() => window.themeAtFirst), 'dark');
  await button(early, 'Colours: dark').waitFor();
  assert.equal(await theme(early), dark);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the main screens have no accessibility violations (${colorScheme})`, async (t) => {
    const { page } = await visit(t, daemon);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator('.link-open').waitFor();
    await openWorkstream(page, `axe ${colorScheme}`);
    await assertAccessible(page, 'empty conversation');
    const code = '# Title\n\nText with `code` and [a link](https://example.com/).\n\n```js\nconst a = 1; // one\n```\n';
    const edit = { name: 'write_file', arguments: { path: `${colorScheme}.js`, content: 'const a = "1"; // one\n' } };
    model.when(
      'show all',
      [say(code), callTools(edit)],
      bash("printf '\\033[31mred\\033[0m\\n' | tee asked"),
      say('Fine.'),
    );
    await send(page, 'show all');
    await page.locator('.approval.pending').waitFor();
    await assertAccessible(page, 'a question');
    await button(page, 'Deny…').click();
    await assertAccessible(page, 'a denial');
    await button(page, 'Back').click();
    await button(page, 'Approve').click();
    await page.locator('.approval.pending', { hasText: 'printf' }).waitFor();
    await button(page, 'Approve').click();
    await page.locator('.answer', { hasText: 'Fine.' }).waitFor();
    await send(page, '/help');
    await page.locator('.note').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('/');
    await assertAccessible(page, 'a finished conversation and the commands');
    await page.keyboard.press('Control+k');
    await page.locator('.saved-row').first().waitFor();
    await assertAccessible(page, 'saved conversations');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+w');
    await page.getByRole('dialog').waitFor();
    await assertAccessible(page, 'a new workstream');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await button(page, 'Keyboard shortcuts').click();
    await assertAccessible(page, 'the list of keys');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await button(page, 'Log out').click();
    await page.getByRole('heading', { name: 'Log in to Headgate' }).waitFor();
    await assertAccessible(page, 'the login card');
  });
}

test('a phone has no accessibility violations, with the drawer closed and open', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openWorkstream(page, 'axe phone');
  await assertAccessible(page, 'a conversation on a phone');
  model.when('ask on a phone', bash('echo asked | tee asked'), say('Fine.'));
  await send(page, 'ask on a phone');
  await page.locator('.approval.pending').waitFor();
  await assertAccessible(page, 'a question on a phone');
  await button(page, 'Model settings').tap();
  await assertAccessible(page, 'a question on a phone, with model and effort');
  await openDrawer(page);
  await page.locator('.drawn .rail').waitFor();
  await assertAccessible(page, 'the drawer');
});

test('words are found in the conversation by keyboard, and keys and links lead to messages', async (t) => {
  const { page, context } = await visit(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWorkstream(page, 'finding');
  for (const word of ['one', 'two', 'three']) {
    model.when(`ask ${word}`, say(`About **${word}**.\n\n${'A line.\n\n'.repeat(20)}`));
    await send(page, `ask ${word}`);
    await page.locator('strong', { hasText: word }).waitFor();
    await state(page, 'idle');
  }
  await page.keyboard.press('Control+f');
  await focusIsIn(page, '.find-bar');
  await page.keyboard.type('ABOUT');
  await page.getByText('In 3 messages').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.getByText('2 of 3 messages').waitFor();
  await assertAccessible(page, 'the search in a conversation');
  await page.keyboard.press('Escape');
  await focusIsIn(page, '#message');

  const focused = (text: string) =>
    page.waitForFunction((wanted) => document.activeElement?.textContent?.includes(wanted), text);
  await page.keyboard.press('Alt+e');
  await focused('ask three');
  await page.keyboard.press('Alt+b');
  await page.keyboard.press('Alt+b');
  await focused('ask one');
  await page.keyboard.press('Alt+j');
  await focused('ask two');

  const two = page.locator('.block.user', { hasText: 'ask two' });
  await two.getByRole('button', { name: 'Copy a link to this message' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('http'));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await other.waitForFunction(() => document.activeElement?.textContent?.includes('ask two'));
  assert.equal(new URL(other.url()).hash, '');
});
