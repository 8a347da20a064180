import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { needs } from '../../src/testing/needs.ts';
import { blocksOf, button, hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

/** Without a sandbox, the card of a command says so. */
const sandboxed = await needs('bubblewrap');
const { model, daemon } = await openStage();

const TABS = 10;

test(
  'ten tabs of one browser are all live and show the same; a decision in one closes the approval in all',
  sandboxed,
  async (t) => {
    const { page, openTab } = await visit(t, daemon);
    const pages: Page[] = [page];
    while (pages.length < TABS) pages.push(await openTab());
    for (const each of pages) await each.locator('.link-open').waitFor();
    await openWorkstream(page, 'ten');
    const others = pages.slice(1);
    for (const each of others) await each.getByRole('tab', { name: 'ten' }).click(); // it appears without a reload
    const rest = stall();
    const command = { name: 'bash', arguments: { command: 'echo once >> ten.txt; cat ten.txt' } };
    model.when('in all', [say('It streams '), rest, say('everywhere.'), callTools(command)], say('Once.'));
    await send(page, 'in all');
    for (const each of pages) await each.locator('.answer', { hasText: 'It streams' }).waitFor();
    // HTTP/1.1 allows six connections per host: if all were in use, this would wait forever.
    const answered = await Promise.all(
      pages.map((each) => each.evaluate(() => fetch('/v1/api/auth/status').then(({ status }) => status))),
    );
    assert.deepEqual(
      answered,
      pages.map(() => 200),
    );
    rest.release();
    for (const each of pages) await each.locator('.approval.pending').waitFor();
    await button(pages[6] ?? page, 'Approve').click();
    for (const each of pages) {
      await each.locator('.approval.pending').waitFor({ state: 'detached' });
      await each.locator('.answer', { hasText: 'Once.' }).waitFor();
      await state(each, 'idle');
    }
    const told = [
      'You: in all',
      'It streams everywhere.',
      'Approved: bash',
      'bash echo once >> ten.txt; cat ten.txt done once Open Copy',
      'Once.',
    ];
    assert.deepEqual(
      await Promise.all(pages.map(blocksOf)),
      pages.map(() => told),
    );
    await button(page, 'Close ten').click();
    for (const each of pages) await each.getByRole('tab', { name: 'ten' }).waitFor({ state: 'detached' });
  },
);

test('each tab has its own draft and selected workstream; a new name appears in all', async (t) => {
  const { page, openTab } = await visit(t, daemon);
  await openWorkstream(page, 'mine');
  await openWorkstream(page, 'other');
  const second = await openTab();
  await second.getByRole('tab', { name: 'mine' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('typed here');
  await second.getByRole('textbox', { name: 'Message' }).fill('typed there');
  await page.reload();
  await second.reload();
  await page.getByRole('heading', { name: 'other', level: 1 }).waitFor();
  await second.getByRole('heading', { name: 'mine', level: 1 }).waitFor();
  await hasValue(page.getByRole('textbox', { name: 'Message' }), 'typed here');
  await hasValue(second.getByRole('textbox', { name: 'Message' }), 'typed there');
  await second.getByRole('heading', { name: 'mine', level: 1 }).dblclick();
  await second.getByRole('textbox', { name: 'New name' }).fill('ours');
  await second.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'ours' }).waitFor();
});
