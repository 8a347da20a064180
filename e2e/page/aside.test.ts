import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { focused } from '../support/clients/focus.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

/** A workstream in an empty folder, whose calls run unasked, on a wide screen. */
async function openFolder(t: Parameters<typeof visit>[0]) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-page-aside-')));
  after(() => rm(folder, { recursive: true, force: true }));
  const client = await daemon.client();
  const name = path.basename(folder);
  await client.call('workstream.create', { workdir: folder, name, autoApprove: true });
  const { page } = await visit(t, daemon);
  await page.setViewportSize({ width: 1_600, height: 900 });
  await page.getByRole('tab', { name }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  return { page, name, folder };
}

test('a background command is followed live, read in pages and searched; Escape returns the focus, Back closes it', async (t) => {
  const { page, name, folder } = await openFolder(t);
  const command =
    'printf "\\033[31mfirst\\033[0m\\n"; until [ -e go ]; do sleep 0.05; done; seq -f %0200g 900; echo the-end';
  model.when('serve it', callTools({ name: 'bash', arguments: { command, run_in_background: true } }), say('It runs.'));
  await send(page, 'serve it');
  await page.locator('.answer', { hasText: 'It runs.' }).waitFor();
  const opener = page.getByRole('button', { name: /^Open the output of printf/ });
  await opener.focus();
  await page.keyboard.press('Enter');
  const pane = page.getByRole('complementary', { name: 'Background command' });
  await pane.locator('.ansi-on', { hasText: 'first' }).waitFor();
  await pane.getByText('running for').waitFor();
  await assertAccessible(page, 'a background command beside the conversation');
  await pane.getByRole('button', { name: 'Follow' }).click();
  await writeFile(path.join(folder, 'go'), '');
  await page.locator('.background-state', { hasText: 'finished' }).waitFor();
  await pane.getByText('New output is not shown while you read.').waitFor();
  assert.equal(await pane.getByText('the-end', { exact: true }).count(), 0);
  await pane.getByRole('button', { name: 'Follow' }).click();
  await pane.locator('.output', { hasText: 'the-end' }).waitFor();
  await pane.getByRole('button', { name: 'Pages and search' }).click();
  await pane.getByText('Page 3 of 3').waitFor();
  await pane.getByRole('button', { name: 'First page' }).click();
  await pane.getByLabel('Find in the output').fill('0899');
  await page.keyboard.press('Enter');
  await pane.getByText('Page 3 of 3').waitFor();
  await pane.getByRole('button', { name: 'First page' }).focus();
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'detached' });
  await focused(page, '[aria-label^="Open the output"]');
  await opener.click();
  await pane.waitFor();
  await page.goBack();
  await pane.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  await page.setViewportSize({ width: 900, height: 800 });
  await opener.click();
  await page.getByRole('dialog', { name: 'Background command' }).getByText('finished').waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the output of a call is opened from its card, while it runs and after a reload', async (t) => {
  const { page, name, folder } = await openFolder(t);
  const command = 'echo early; until [ -e go ]; do sleep 0.05; done; seq -f %0200g 900';
  model.when('print it', callTools({ name: 'bash', arguments: { command } }), say('Printed.'));
  await send(page, 'print it');
  await button(page, 'Open the output').click();
  const pane = page.getByRole('complementary', { name: 'Output' });
  await pane.locator('.output', { hasText: 'early' }).waitFor();
  await writeFile(path.join(folder, 'go'), '');
  await pane.getByText('Page 1 of 3').waitFor();
  await page.reload();
  await page.getByRole('tab', { name }).click();
  await pane.getByText('Page 1 of 3').waitFor();
});

test('a sub-agent and a plan are read beside the conversation', async (t) => {
  const { page } = await openFolder(t);
  const touch = { name: 'bash', arguments: { command: 'echo touched' } };
  model.when('PART-TASK', callTools(touch), say('The part is **done**.'));
  model.when('HAND-OVER', callTools({ name: 'task', arguments: { title: 'Part', prompt: 'PART-TASK' } }), say('Over.'));
  await send(page, 'HAND-OVER');
  await page.locator('.answer', { hasText: 'Over.' }).waitFor();
  await button(page, 'Open the sub-agent').click();
  const talk = page.getByRole('complementary', { name: 'Sub-agent' });
  await talk.locator('strong', { hasText: 'done' }).waitFor();
  await talk.locator('.tool', { hasText: 'touched' }).waitFor();
  await talk.locator('.block.user', { hasText: 'PART-TASK' }).waitFor();
  await page.keyboard.press('Escape');
  await openWorkstream(page, 'with a plan');
  const plan =
    '## Goal\nPort 443 in server.ts\n## Current State\nThe number is in server.ts, line 3.\n## Plan\n1. Read it\n2. Change it\n## Risks\nNone that are known.';
  model.when('PLAN-IT', callTools({ name: 'plan_agent', arguments: { goal: 'GOAL beside' } }), say('On it.'));
  model.when('GOAL beside', say(plan));
  await send(page, 'PLAN-IT');
  await button(page, 'Approve').click();
  const card = page.locator('.approval.pending', { hasText: 'Is this plan good?' });
  await card.getByRole('button', { name: 'Open the plan' }).click();
  const shown = page.getByRole('complementary', { name: 'Plan' });
  await shown.getByRole('heading', { name: 'Risks' }).waitFor();
  await shown.getByText('It waits for an answer').waitFor();
  await button(page, 'Approve plan').click();
  await shown.getByText('It waits for an answer').waitFor({ state: 'detached' });
});

test('one file of a run is taken back and brought back, unless it was changed since', async (t) => {
  const { page, folder } = await openFolder(t);
  const command = 'echo 1 > one.txt; echo 2 > two.txt';
  model.when('WRITE-BOTH', callTools({ name: 'bash', arguments: { command } }), say('Both are there.'));
  await send(page, 'WRITE-BOTH');
  await page.locator('.answer', { hasText: 'Both are there.' }).waitFor();
  await page.keyboard.press('Alt+p');
  const pane = page.getByRole('complementary', { name: 'Files' });
  await pane.getByRole('button', { name: 'Changes', exact: true }).click();
  await pane.getByRole('button', { name: 'Take back one.txt' }).click();
  await pane.getByRole('button', { name: 'Bring back one.txt' }).waitFor();
  assert.deepEqual(await readdir(folder), ['two.txt']);
  await pane.getByRole('button', { name: 'Bring back one.txt' }).click();
  await pane.getByRole('button', { name: 'Take back one.txt' }).waitFor();
  await writeFile(path.join(folder, 'two.txt'), 'mine');
  await pane.getByRole('button', { name: 'Take back two.txt' }).click();
  await pane.getByRole('alert').filter({ hasText: 'not as the run left' }).waitFor();
  assert.equal(await readFile(path.join(folder, 'two.txt'), 'utf8'), 'mine');
});
