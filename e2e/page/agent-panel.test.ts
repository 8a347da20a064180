import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { newUser, visitAs } from '../support/clients/accounts.ts';
import { button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const FAKE = fileURLToPath(new URL('../../src/agent/mcp/misbehaving-server.ts', import.meta.url));
const server = { command: process.execPath, sandbox: false };
const servers = {
  notes: { ...server, args: [FAKE, 'rewrites'], env: { NOTES_TOKEN: 'canary' } },
  broken: { ...server, args: [FAKE, 'dies-early'] },
  off: { ...server, args: [FAKE], enabled: false },
};
const { model, daemon } = await openStage({ config: { mcp: { servers } } });

/** Opens a part of the agent view by the keyboard and its button. */
async function openPart(page: Page, name: string) {
  await page.locator('.link-open').waitFor({ state: 'attached' });
  await page.keyboard.press('Alt+g');
  await page.getByRole('heading', { name: 'Agent', level: 1 }).waitFor();
  const parts = page.getByRole('navigation', { name: 'Parts of the agent view' });
  await parts.getByRole('button', { name }).click();
  await page.getByRole('heading', { name, level: 2 }).waitFor();
}

const card = (page: Page, text: string) => page.locator('.panel-row', { hasText: text });

/** Lets the agent of a workstream watch something. */
async function watch(page: Page, name: string) {
  const args = { action: 'create', name, command: 'echo 7 waiting', interval: '10m', stop_on: 'output == "none"' };
  model.when(`watch ${name}`, callTools({ name: 'watch', arguments: args }), say('I wait.'));
  await send(page, `watch ${name}`);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'I wait.' }).waitFor();
  await state(page, 'idle');
}

test('watches of all workstreams are listed with their state, also those that begin or end meanwhile, and cancelled by keyboard', async (t) => {
  const { page, openTab } = await visit(t, daemon);
  await openPart(page, 'Watches');
  await page.getByText('No watch is active.').waitFor();
  await assertAccessible(page, 'no watches');
  const other = await openTab();
  await openWorkstream(other, 'watching');
  await watch(other, 'queue');
  const bar = other.getByRole('region', { name: 'Watches' });
  await bar.getByText('Watching: queue').waitFor();
  await assertAccessible(other, 'a conversation with a watch');
  await card(page, 'queue').getByText('Until output == "none"').waitFor();
  await card(page, 'queue')
    .getByText(/^every 10 min, poll \d of 100 · (next in|polled now)/)
    .waitFor();
  await card(page, 'queue').getByText('Last output').click();
  await card(page, 'queue').getByText('7 waiting', { exact: true }).waitFor();
  await assertAccessible(page, 'a watch');
  await button(page, 'Cancel queue').press('Enter');
  await page.getByRole('alertdialog', { name: 'Cancel queue?' }).getByRole('button', { name: 'Cancel' }).press('Enter');
  await card(page, 'queue').getByText('ended', { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'watches-title');
  await bar.waitFor({ state: 'detached' });
  await openPart(other, 'Watches');
  await other.getByText('No watch is active.').waitFor();
  await button(other, 'Also ended ones').click();
  await card(other, 'queue')
    .getByText(/^cancelled, poll/)
    .waitFor();
  await card(other, 'queue')
    .getByRole('button', { name: /^watching/ })
    .click();
  await other.getByRole('heading', { name: 'watching', level: 1 }).waitFor();
});

test('memories are searched and forgotten, and those that wait are released or discarded, by those who may', async (t) => {
  const client = await daemon.client();
  for (const name of ['harbour', 'kestrel'])
    await client.call('memory.save', { name, content: `The ${name} is <b>near</b>.\nSecond line \u202e.` });
  const { page } = await visit(t, daemon, { phone: true });
  await openPart(page, 'Memories');
  await card(page, 'harbour').getByText('The harbour is <b>near</b>.').waitFor();
  await card(page, 'harbour').getByText('Second line \\u202e.').waitFor();
  await assertAccessible(page, 'memories on a phone');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0);
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('kestrel');
  await card(page, 'harbour').waitFor({ state: 'detached' });
  await button(page, 'Forget kestrel').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByText('No memory has these words.').waitFor();
  const viewer = await newUser(daemon, ['builtin-viewer']);
  const theirs = await visitAs(t, daemon, { username: viewer.username });
  await theirs.keyboard.press('Alt+g');
  await theirs.getByRole('heading', { name: 'Memories', level: 2 }).waitFor();
  await card(theirs, 'harbour').waitFor();
  assert.equal(await theirs.locator('.panel-row button').count(), 0);
  const parts = theirs.getByRole('navigation', { name: 'Parts of the agent view' }).getByRole('button');
  assert.deepEqual(await parts.allInnerTexts(), ['Memories', 'Skills']);
});

test('skills are listed, found by words, and used in the conversation', async (t) => {
  const client = await daemon.client();
  await client.call('template.create', { name: 'review', content: 'Read changes.', category: 'general' });
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'with a skill');
  await openPart(page, 'Skills');
  await card(page, 'review').waitFor();
  await assertAccessible(page, 'skills');
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('nothing like it');
  await page.getByText('No skill has these words.').waitFor();
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('GENERAL rev');
  await button(page, 'Use review').click();
  await page.getByRole('heading', { name: 'with a skill', level: 1 }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '/skill review');
});

test('tool servers are listed with their state and tools; a changed tool is compared and accepted', async (t) => {
  const { page } = await visit(t, daemon);
  await openPart(page, 'Tool servers');
  await button(page, 'Refresh notes').click();
  await card(page, 'notes')
    .getByText(/1 tool · fake rewrites|connected · 1 tool/)
    .waitFor();
  await card(page, 'notes').getByText('with NOTES_TOKEN').waitFor();
  await card(page, 'notes').getByText('Tools (1)').click();
  await card(page, 'notes').getByText('Greets somebody.').waitFor();
  await card(page, 'off').getByText('disabled').waitFor();
  assert.equal(await button(page, 'Refresh off').count(), 0);
  await button(page, 'Refresh broken').click();
  await card(page, 'broken').getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  await assertAccessible(page, 'tool servers');
  await writeFile(path.join(daemon.home, 'tool-servers/notes/rewritten'), '');
  await button(page, 'Refresh notes').click();
  const change = page.getByRole('region', { name: 'Change of greet' });
  await change.getByText('Greets somebody, and sends mail.').waitFor();
  await change.getByText('Arguments: unchanged').waitFor();
  await assertAccessible(page, 'a changed tool');
  await change.getByRole('button', { name: 'Accept greet' }).press('Enter');
  await change.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'servers-title');
});
