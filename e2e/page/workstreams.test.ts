import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { newUser, visitAs } from '../support/clients/accounts.ts';
import {
  addWorkstream,
  blocksOf,
  button,
  hasValue,
  openDrawer,
  openWorkstream,
  send,
  state,
  visit,
  visitAgain,
} from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const namesOf = async (): Promise<string[]> => {
  const { body } = await daemon.get('/v1/api/workstreams');
  return body.workstreams.map(({ name }: { name: string }) => name);
};

test('a new workstream starts empty, and each workstream keeps its draft and its conversation', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await addWorkstream(page, 'one');
  await send(page, 'say first things');
  await page.locator('.answer', { hasText: 'first things' }).waitFor();
  await state(page, 'idle');
  await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
  await addWorkstream(page, 'two');
  await page.locator('.welcome').waitFor();
  await hasValue(page.getByRole('textbox', { name: 'Message' }), '');
  await page.getByRole('tab', { name: 'one' }).click();
  await page.locator('.answer', { hasText: 'first things' }).waitFor();
  await hasValue(page.getByRole('textbox', { name: 'Message' }), 'half a thought');
});

test('if a workstream cannot be created, the page says why and keeps the input', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openDrawer(page); // waits for the tabs, which move the button
  await button(page, 'New workstream').click();
  await page.getByRole('textbox', { name: 'Working directory' }).fill('/no/such/folder');
  await button(page, 'Create').click();
  await page.locator('dialog .problem', { hasText: '/no/such/folder' }).waitFor();
  await hasValue(page.getByRole('textbox', { name: 'Working directory' }), '/no/such/folder');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
});

test('a second Enter, before the first one is answered, creates no second workstream', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openDrawer(page); // waits for the tabs, which move the button
  await button(page, 'New workstream').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('only once');
  await page.locator('dialog form').evaluate((form: HTMLFormElement) => {
    form.requestSubmit();
    form.requestSubmit();
  });
  await page.getByRole('heading', { name: 'only once', level: 1 }).waitFor();
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.deepEqual(
    (await namesOf()).filter((name) => name === 'only once'),
    ['only once'],
  );
});

test('a double click renames a workstream for every client; Escape cancels', async (t) => {
  const { page, openTab } = await visit(t, daemon);
  await openWorkstream(page, 'before');
  const other = await openTab();
  await page.getByRole('tab', { name: 'before' }).dblclick();
  const field = page.getByRole('textbox', { name: 'New name' });
  await field.fill('after all');
  await field.press('Enter');
  await page.getByRole('heading', { name: 'after all' }).waitFor();
  await other.getByRole('tab', { name: 'after all' }).waitFor();
  assert.equal((await namesOf()).includes('after all'), true);
  await page.getByRole('tab', { name: 'after all' }).press('F2');
  await field.fill('not this');
  await field.press('Escape');
  await page.getByRole('tab', { name: 'after all' }).waitFor();
  assert.equal((await namesOf()).includes('not this'), false);
});

test('a closed conversation is saved and can be resumed unchanged', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'kept');
  await send(page, 'think about lunch');
  await page.locator('.answer', { hasText: 'I thought about' }).waitFor();
  await state(page, 'idle');
  const before = await blocksOf(page);
  await button(page, 'Close kept').click();
  await page.getByRole('tab', { name: 'kept' }).waitFor({ state: 'detached' });
  assert.equal((await namesOf()).includes('kept'), false);
  await button(page, 'Saved conversations').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^kept think about lunch · 2 messages/ })
    .click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'kept', level: 1 }).waitFor();
  await page.locator('.answer').waitFor();
  assert.deepEqual(await blocksOf(page), before);
});

test('a command is suggested while it is typed, and its answer is shown', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'commands');
  await page.getByRole('textbox', { name: 'Message' }).fill('/na');
  await page.getByRole('option', { name: '/name' }).click();
  await page.keyboard.type('by command');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'by command' }).waitFor();
  await send(page, '/help');
  await page.locator('.note', { hasText: '/resume' }).waitFor();
});

test('after a reload the same workstream is selected', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'in front');
  await page.reload();
  await page.getByRole('heading', { name: 'in front' }).waitFor();
});

test('what works for a coordinator stands below it, is folded when it is much, and is stopped and closed by those who may', async (t) => {
  const client = await daemon.client();
  const { page } = await visitAgain(t, daemon);
  await openDrawer(page); // waits for the tabs, which move the button
  await button(page, 'New workstream').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('release');
  await page.getByLabel('Kind').selectOption('coordinator');
  await button(page, 'Create').click();
  await page.getByRole('region', { name: 'Coordinator' }).waitFor();
  const { coordinators } = await client.call('coordinator.list', {});
  const { wsId = '' } = coordinators[0] ?? {};
  for (const name of ['first part', 'second part']) await client.call('workstream.create', { name, parentWsId: wsId });
  await page.getByRole('tab', { name: 'first part' }).waitFor();
  await button(page, 'Workstreams of release: 2').press('Enter');
  await page.getByRole('tab', { name: 'first part' }).waitFor({ state: 'detached' });
  await button(page, 'Workstreams of release: 2').press('Enter');
  const panel = page.getByRole('region', { name: 'Coordinator' });
  await panel.locator('summary').press('Enter');
  await panel.getByRole('button', { name: 'first part' }).waitFor();
  await client.call('workstream.create', { name: 'third part', parentWsId: wsId });
  await page.locator('.quiet-line', { hasText: '“third part” works for it' }).waitFor();
  await panel.getByText('3 workstreams').waitFor();
  await panel.getByRole('button', { name: 'Take tools away…' }).press('Enter');
  await page.keyboard.type('web_fetch');
  await page.keyboard.press('Enter');
  await panel.getByText('Nothing here can use web_fetch any more.').waitFor();
  await panel.getByRole('button', { name: 'Stop everything' }).press('Enter');
  await panel.getByText(/^Stopped it and /).waitFor();
  await assertAccessible(page, 'a coordinator');
  await panel.getByRole('button', { name: 'Close all…' }).press('Enter');
  await panel.getByRole('alertdialog').getByRole('button', { name: 'Close' }).press('Enter');
  await panel.getByText('Closed 3 workstreams.').waitFor();
  await page.getByRole('tab', { name: 'first part' }).waitFor({ state: 'detached' });
  const viewer = await newUser(daemon, ['builtin-viewer']);
  const theirs = await visitAs(t, daemon, { username: viewer.username });
  await theirs.getByRole('tab', { name: 'release' }).click();
  await theirs.getByRole('region', { name: 'Coordinator' }).locator('summary').click();
  await theirs.getByText(/^3 closed: /).waitFor();
  assert.equal(await theirs.getByRole('button', { name: 'Stop everything' }).count(), 0);
});

test('a workstream is pinned, deleted with undo, and found again after it was closed', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'rail alpha');
  await openWorkstream(page, 'rail beta');
  await send(page, 'say the kestrels fly');
  await page.locator('.answer', { hasText: 'kestrels' }).waitFor();
  await state(page, 'idle');
  const row = (name: string) => page.locator('.tab', { hasText: name });
  const choose = async (name: string, what: string) => {
    await button(page, `Options of ${name}`).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: what }).waitFor();
    await assertAccessible(page, `the menu of ${name}`);
    const turned = await page
      .locator('.tab-more[aria-expanded=true] .icon')
      .evaluate((icon) => getComputedStyle(icon).rotate + getComputedStyle(icon).transform);
    assert.equal(turned, 'nonenone', 'only the arrow of what unfolds turns');
    await page.getByRole('menuitem', { name: what }).press('Enter');
  };
  await choose('rail beta', 'Pin');
  await page.locator('.tabs-head', { hasText: 'Pinned' }).waitFor();
  assert.match((await page.locator('.tab').first().textContent()) ?? '', /rail beta/);
  await page.reload();
  await page.locator('.tabs-head', { hasText: 'Pinned' }).waitFor();

  await choose('rail alpha', 'Delete');
  await row('rail alpha').waitFor({ state: 'detached' });
  await button(page, 'Undo').click();
  await row('rail alpha').waitFor();

  await choose('rail beta', 'Close');
  await row('rail beta').waitFor({ state: 'detached' });
  await page.getByRole('searchbox', { name: 'Search workstreams' }).fill('BETA rail');
  await page.locator('.tabs-head', { hasText: 'Saved' }).waitFor();
  assert.equal(await row('rail alpha').count(), 0);
  await page.getByRole('searchbox', { name: 'Search workstreams' }).fill('kestrels');
  await page.locator('.tabs-head', { hasText: 'Messages' }).waitFor();
  await assertAccessible(page, 'messages that were found');
  await page.locator('.message-hit', { hasText: 'say the kestrels' }).first().click();
  await page.getByRole('heading', { name: 'rail beta', level: 1 }).waitFor();
  await hasValue(page.getByRole('searchbox', { name: 'Find in this conversation' }), 'kestrels');
});

test('filters narrow the list and what a search finds, survive a reload, and go with their chips', async (t) => {
  const client = await daemon.client();
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-elsewhere-')));
  t.after(() => rm(folder, { recursive: true }));
  await client.call('workstream.create', { name: 'elsewhere', workdir: folder });
  const { wsId } = await client.call('workstream.create', { name: 'pond' });
  await client.call('workstream.send', { wsId, message: 'a heron stands there' });
  const { page, openTab } = await visit(t, daemon);
  const field = (name: string) => page.getByRole('combobox', { name, exact: true });
  const [elsewhere, pond] = [page.getByRole('tab', { name: 'elsewhere' }), page.getByRole('tab', { name: 'pond' })];
  await pond.waitFor();
  await button(page, 'Filters').press('Enter');
  await field('Folder').selectOption(folder);
  await pond.waitFor({ state: 'detached' });
  await elsewhere.waitFor();
  await assertAccessible(page, 'the filters of the list');

  await page.reload();
  await elsewhere.waitFor();
  assert.equal(await pond.count(), 0);
  const search = page.getByRole('searchbox', { name: 'Search workstreams' });
  await search.fill('heron');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByText('No messages found').waitFor();
  await button(page, `Remove the filter Folder: ${path.basename(folder)}`).press('Enter');
  await page.locator('.message-hit', { hasText: 'heron' }).waitFor();
  await page.locator('.rail-find button:focus').waitFor();
  await search.fill('');

  await button(page, 'Filters').press('Enter');
  await field('Last used').selectOption('More than 30 days ago');
  await pond.waitFor({ state: 'detached' });
  await button(page, 'Remove the filters').press('Enter');
  await pond.waitFor();

  // Under a name, with the words of the search; another tab has it, too.
  await field('Folder').selectOption(folder);
  await search.fill('else');
  await page.getByRole('textbox', { name: 'Name for these filters' }).fill('Far away');
  await page.keyboard.press('Enter');
  const saved = (within: Page) => within.getByRole('list', { name: 'Saved filters', exact: true }).getByRole('button');
  await saved(page).and(page.locator('[aria-pressed=true]')).getByText('Far away').waitFor();
  await assertAccessible(page, 'saved filters');
  await saved(page).click();
  await pond.waitFor();
  assert.equal(await search.inputValue(), '');
  const second = await openTab();
  await saved(second).click();
  await hasValue(second.getByRole('searchbox', { name: 'Search workstreams' }), 'else');
  await second.getByRole('tab', { name: 'pond' }).waitFor({ state: 'detached' });

  await button(page, 'Rename Far away').press('Enter');
  await page.getByRole('textbox', { name: 'New name' }).fill('Elsewhere');
  await page.keyboard.press('Enter');
  await button(page, 'Rename Elsewhere').and(page.locator(':focus')).waitFor();
  await saved(second).getByText('Elsewhere').waitFor();
  await button(second, 'Filters').press('Enter');
  await button(second, 'Remove Elsewhere').press('Enter');
  await saved(page).waitFor({ state: 'detached' });
  await second.locator('button:focus', { hasText: 'Undo' }).press('Enter');
  await saved(page).getByText('Elsewhere').waitFor();
  await page.evaluate(() => localStorage.setItem('headgate.saved-filters', 'damaged'));
  await page.reload();
  await button(page, 'Filters').press('Enter');
  await page.getByRole('alert').getByText('The saved filters of this browser cannot be read.').waitFor();
  await button(page, 'Begin a new list').press('Enter');
  await page.getByRole('alert').getByText('cannot be read').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => localStorage.getItem('headgate.saved-filters.unreadable')), 'damaged');
});
