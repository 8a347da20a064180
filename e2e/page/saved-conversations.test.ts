import assert from 'node:assert/strict';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openConnection } from '../../src/gateway/store/sqlite/sqlite-connection.ts';
import { blocksOf, button, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const STORED = 10_000;
const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());
await daemon.stop();
storeConversations();
await daemon.restart();

/** As if there had been conversations for years; a whole import has one time. */
function storeConversations(): void {
  const connection = openConnection(path.join(daemon.home, 'headgate.db'));
  const store = connection.database;
  store.exec('BEGIN');
  const columns = store
    .prepare('PRAGMA table_info(workstreams)')
    .all()
    .map(({ name }) => String(name));
  const set: Record<string, string> = {
    ws_id: '?1',
    session_key: 'NULL',
    alias: 'NULL',
    title: '?2',
    loaded: '0',
    message_count: '1',
    updated_ms: '1700000000000',
    generated_name: '?3',
  };
  const insert = store.prepare(
    `INSERT INTO workstreams (${columns.join()}) SELECT ${columns.map((name) => set[name] ?? name).join()}
     FROM workstreams WHERE session_key = 'main'`,
  );
  const say = store.prepare(
    `INSERT INTO messages (ws_id, seq, run_id, body_json, created_ms, checksum)
     VALUES (?1, 1, NULL, ?2, 1, message_checksum(?1, 1, NULL, ?2, 1))`,
  );
  for (let index = 0; index < STORED; index += 1) {
    const wsId = index.toString(16).padStart(32, '0');
    insert.run(wsId, `Question ${index}`, `ws-${wsId.slice(0, 4)}`);
    say.run(wsId, JSON.stringify({ role: 'user', content: `Question ${index}` }));
  }
  store.exec('COMMIT');
  connection.close();
}

async function openSaved(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('.saved-row').first().waitFor();
}
const rows = (page: Page) => page.locator('.saved-row');

test('ten thousand saved conversations are loaded in pages, each exactly once', async () => {
  const client = await daemon.client();
  const read: string[] = [];
  let before: { before?: number; beforeWsId?: string } = {};
  for (;;) {
    const { workstreams } = await client.call('workstream.saved', { limit: 500, ...before });
    const last = workstreams.at(-1);
    if (!last) break;
    read.push(...workstreams.map(({ wsId }) => wsId));
    before = { before: last.updatedMs, beforeWsId: last.wsId };
  }
  assert.deepEqual([read.length, new Set(read).size], [STORED, STORED]);
});

test('the list loads more while scrolling, and a search finds one of thousands to resume', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await page.locator('.link-open').waitFor();
  await openSaved(page);
  assert.equal(await rows(page).count(), 50);
  await button(page, 'Show more').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelectorAll('.saved-row').length === 100);
  const names = await page.locator('.saved-name').allInnerTexts();
  assert.equal(new Set(names).size, 100);
  const search = page.getByRole('searchbox', { name: 'Search saved conversations' });
  await search.fill('question 7777');
  await rows(page).nth(1).waitFor({ state: 'detached' });
  await search.press('ArrowDown');
  assert.match(
    (await page.locator(':focus').innerText()).replace(/\s+/g, ' '),
    /^Question 7777 1 message · Nov 14, 2023$/,
  );
  await page.keyboard.press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Question 7777', level: 1 }).waitFor();
  assert.deepEqual(await blocksOf(page), ['You: Question 7777']);
  await page.waitForFunction(() => document.activeElement?.id === 'message');
});

test('a saved conversation can be renamed in the list, and the rules of the daemon apply', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'open');
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  await client.call('workstream.update', { wsId, name: 'taken' });
  await openSaved(page);
  const search = page.getByRole('searchbox', { name: 'Search saved conversations' });
  await search.fill('question 4242');
  await rows(page).nth(1).waitFor({ state: 'detached' });
  await button(page, 'Rename Question 4242').click();
  const field = page.getByRole('textbox', { name: 'New name' });
  await field.fill('taken');
  await field.press('Enter');
  await page.getByRole('alert').getByText('That name is already used by another workstream').waitFor();
  await field.fill('herbs');
  await field.press('Enter');
  await page.locator('.saved-name', { hasText: 'herbs' }).waitFor();
  await page.locator('.saved-when', { hasText: 'Question 4242 · 1 message' }).waitFor();
  await button(page, 'Rename herbs').click();
  await field.fill('not this');
  await field.press('Escape');
  await page.locator('.saved-name', { hasText: 'herbs' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 1, 'Escape left the field, not the dialog');
  await search.fill('herbs');
  await page.locator('.saved-name', { hasText: 'herbs' }).waitFor();
});

test('a conversation is deleted only after a confirmation, with all its messages, even when it is open', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'doomed');
  await send(page, 'say something to lose');
  await page.locator('.answer').waitFor();
  await state(page, 'idle');
  await openSaved(page);
  await page.getByRole('searchbox', { name: 'Search saved conversations' }).fill('doomed');
  const row = rows(page).filter({ hasText: 'doomed' });
  await button(page, 'Delete doomed').click();
  await page.keyboard.press('Enter'); // the focus is on the button that changes nothing
  await row.locator('.saved-main').focus();
  await page.keyboard.press('Delete');
  const question = page.getByRole('alertdialog', { name: 'Delete doomed?' });
  await question.waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  assert.equal(await row.count(), 1);
  await button(page, 'Delete doomed').click();
  await question.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'doomed' }).waitFor({ state: 'detached' });
  const client = await daemon.client();
  const { workstreams } = await client.call('workstream.saved', { search: 'doomed' });
  assert.deepEqual(workstreams, []);
});

test('an open conversation is listed, too, and choosing it shows it; an empty search result is reported', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'at hand');
  await send(page, 'say something to keep');
  await state(page, 'idle');
  await page.locator('.answer').waitFor();
  await openWorkstream(page, 'another');
  await openSaved(page);
  const search = page.getByRole('searchbox', { name: 'Search saved conversations' });
  await search.fill('no such thing at all');
  await page.getByText('No saved conversation has these words').waitFor();
  await search.fill('AT HAND');
  await rows(page).filter({ hasText: 'at hand' }).getByText('open', { exact: true }).waitFor();
  await search.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'at hand', level: 1 }).waitFor();
});

test('with nothing saved the list says so', async (t) => {
  const fresh = await startDaemon();
  const { page } = await visit(t, fresh);
  t.after(() => fresh[Symbol.asyncDispose]());
  await page.locator('.link-open').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByText('No saved conversations yet.').waitFor();
});
