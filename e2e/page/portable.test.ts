import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { blocksOf, button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

test('a conversation is exported from its head, by keyboard, and imported as a new workstream', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portable-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'to carry');
  assert.equal(await page.getByLabel('Export', { exact: true }).count(), 0, 'there is nothing to export yet');
  model.when('first', say('First.'));
  await send(page, 'first');
  await page.getByRole('article').getByText('First.').waitFor();
  await state(page, 'idle');
  const shown = await blocksOf(page);

  await page.getByLabel('Export', { exact: true }).focus();
  await page.keyboard.press('Enter');
  await assertAccessible(page, 'the export menu');
  await page.keyboard.press('Escape');
  await page.getByText('As a file to import').waitFor({ state: 'hidden' });
  await page.keyboard.press('Enter');
  const arriving = page.waitForEvent('download');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const download = await arriving;
  assert.equal(download.suggestedFilename(), 'first.json');
  const file = path.join(folder, 'first.json');
  await download.saveAs(file);
  assert.equal(JSON.parse(await readFile(file, 'utf8')).messages.length, 2);

  await page.getByLabel('Export', { exact: true }).click();
  const text = page.waitForEvent('download');
  await page.getByText('As a text (Markdown)').click();
  assert.equal((await text).suggestedFilename(), 'first.md');

  await button(page, 'New workstream').click();
  const chooser = page.getByLabel('Import a conversation…');
  await chooser.setInputFiles(path.join(import.meta.dirname, 'portable.test.ts'));
  await page.getByText('This file is not an exported conversation.').waitFor();
  await chooser.setInputFiles(file);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('article').getByText('First.').waitFor();
  assert.deepEqual(await blocksOf(page), shown);
  model.when('second', say('Second.'));
  await send(page, 'second');
  await page.getByRole('article').getByText('Second.').waitFor();
});
