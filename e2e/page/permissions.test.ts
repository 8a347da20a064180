import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { connected, dialog, openPart } from '../support/clients/accounts.ts';
import { button, openWorkstream, send, state, visitAgain } from '../support/clients/browser.ts';
import { focused, focusedText } from '../support/clients/focus.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });
const contentOf = (name: string) =>
  readFile(path.join(daemon.home, 'workspace', name), 'utf8').catch(() => 'not there');

test('a card says how risky the call is; a narrow rule lets the same call run unasked, and no other one', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'narrow');
  const remove = bash('rm -rf narrow.d');
  model.when('remove', remove, say('Gone.'));
  model.when('once more', remove, say('Gone again.'));
  model.when('another', bash('rm -rf another.d'), say('Not this one.'));
  await send(page, 'remove');
  const card = page.locator('.approval.pending');
  await card.getByText(/^(Medium|High) risk\b/).waitFor();
  await button(page, 'Show all').click();
  await card.getByText(/^Rated by fixed rules, \d+ % sure\. Advice: /).waitFor();
  await button(page, 'Always allow…').click();
  await focusedText(page, 'Back');
  await page.keyboard.press('Escape');
  await focusedText(page, 'Always allow…');
  await page.keyboard.press('Enter');
  assert.equal(await card.getByRole('option', { name: 'exactly this command' }).count(), 1);
  await card.getByLabel('How long').selectOption({ label: 'in this conversation' });
  await assertAccessible(page, 'the choice of a rule');
  await button(page, 'Approve and allow').click();
  await page.locator('.outcome.approved', { hasText: 'Approved, with a rule for later calls: bash' }).waitFor();
  await page.locator('.answer', { hasText: 'Gone.' }).waitFor();
  await state(page, 'idle');
  await send(page, 'once more');
  await page.locator('.answer', { hasText: 'Gone again.' }).waitFor();
  await state(page, 'idle');
  const allowed = page.locator('.tool', { hasText: 'A rule of this workstream allows' });
  await allowed.waitFor();
  await page.reload();
  await allowed.waitFor();
  await send(page, 'another');
  await card.getByText('another.d').first().waitFor();
});

test('a person answers a question of the agent by a choice and a text, and skips another', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'asking');
  const ask = (question: string, ...labels: string[]) => ({
    name: 'ask_user',
    arguments: { question, choices: labels.map((label) => ({ label, description: `about ${label}` })) },
  });
  model.when(
    'ask me',
    callTools(ask('Which port?', '80', '443'), ask('Which name?'), ask('Which day?')),
    say('Thanks.'),
  );
  await send(page, 'ask me');
  const card = page.locator('.approval.pending');
  await card.getByRole('heading', { name: 'The agent asks' }).waitFor();
  await isInInbox(page, 'The agent asks');
  assert.equal(await card.getByText(/risk/).count(), 0);
  assert.equal(await button(page, 'Always allow…').count(), 0);
  await card.getByRole('button', { name: '443' }).click();
  await card.getByLabel('Answer: Which name?').fill(' Ada ');
  await card.getByRole('checkbox', { name: 'Run Which day?' }).uncheck();
  assert.equal(await card.getByLabel('Answer: Which day?').count(), 0);
  await assertAccessible(page, 'questions of the agent');
  await button(page, 'Answer').click();
  await page.locator('.answer', { hasText: 'Thanks.' }).waitFor();
  for (const text of ['{"answer":"443","choice":"443"}', '{"answer":"Ada"}'])
    await page.locator('.tool', { hasText: text }).waitFor();
  assert.equal(await page.locator('.tool.denied', { hasText: 'Which day?' }).count(), 1);
});

/** Whether the inbox has such a question, too. Returns to the conversation. */
async function isInInbox(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Alt+i');
  await page.locator('.inbox article h2', { hasText: title }).first().waitFor();
  await page.keyboard.press('Escape');
}

test('a plan is revised with words and approved, and its steps become the checklist', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'planning');
  const steps = '## Plan\n1. Read it\n2. Change it';
  const plan = `## Goal\nPort 443 in server.ts\n## Current State\nThe number is in server.ts, line 3.\n${steps}\n## Risks\nNone that are known.`;
  model.when('make a plan', callTools({ name: 'plan_agent', arguments: { goal: 'GOAL of the page' } }), say('On it.'));
  model.when('GOAL of the page', say(plan));
  model.when('says:\nsmaller', say(`${plan} Smaller.`));
  await send(page, 'make a plan');
  await button(page, 'Approve').click();
  const card = page.locator('.approval.pending', { hasText: 'Is this plan good?' });
  await card.getByText('Port 443 in server.ts').first().waitFor();
  assert.equal(await button(page, 'Always allow…').count(), 0);
  await isInInbox(page, 'Is this plan good?');
  await button(page, 'Change or reject…').click();
  await card.getByLabel('What should change?').fill('smaller');
  await button(page, 'Send').click();
  await page.getByText('Another plan wanted').waitFor();
  await card.getByText('Smaller.').first().waitFor();
  await assertAccessible(page, 'a plan');
  await button(page, 'Approve plan').click();
  await page.locator('.answer', { hasText: 'On it.' }).waitFor();
  await page.locator('.todo', { hasText: 'Change it' }).waitFor();
  await page.reload();
  await page.locator('.todo', { hasText: 'Change it' }).waitFor();
});

test('of several calls, a person denies some and runs the others', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'some');
  const touch = (name: string) => ({ name: 'bash', arguments: { command: `echo ran > ${name}` } });
  model.when('three', callTools(touch('one.txt'), touch('two.txt'), touch('three.txt')), say('As you wish.'));
  await send(page, 'three');
  await button(page, 'Approve all').waitFor();
  await assertAccessible(page, 'a question about several calls');
  await page.getByRole('checkbox', { name: 'Run echo ran > two.txt' }).uncheck();
  await isInInbox(page, 'May the agent do these 3 things?'); // the choice stays meanwhile
  await button(page, 'Approve 2, deny 1').click();
  await page
    .locator('.outcome.approved', {
      hasText: 'Approved in part: echo ran > one.txt, echo ran > three.txt, not echo ran > two.txt',
    })
    .waitFor();
  await page.locator('.answer', { hasText: 'As you wish.' }).waitFor();
  assert.deepEqual(await Promise.all(['one.txt', 'two.txt', 'three.txt'].map(contentOf)), [
    'ran\n',
    'not there',
    'ran\n',
  ]);
  assert.equal(await page.locator('.tool.denied', { hasText: 'two.txt' }).count(), 1);
});

test('the mode of a workstream is changed at its head; what it lets run is not asked about', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'modes');
  const mode = page.locator('summary[aria-label^="Mode: "]');
  const choose = async (name: RegExp) => {
    await mode.click();
    await page.locator('.head-menu[open]').getByRole('menuitemradio', { name }).click();
  };
  const shows = (name: string) => page.locator(`summary[aria-label^="Mode: ${name} ("]`).waitFor();
  await shows('Ask');
  await mode.click();
  assert.equal(await page.getByRole('menuitemradio', { name: /^Ask/, checked: true }).count(), 1);
  await assertAccessible(page, 'the modes');
  await page.keyboard.press('Escape');
  await choose(/^Read only/);
  await shows('Read only');
  model.when('write', bash('echo ran > mode.txt'), say('It was blocked.'));
  await send(page, 'write');
  await page.locator('.answer', { hasText: 'It was blocked.' }).waitFor();
  await state(page, 'idle');
  assert.equal(await contentOf('mode.txt'), 'not there');
  await page.locator('.tool.blocked', { hasText: 'This workstream is in the mode “Read only”.' }).waitFor();
  await choose(/^Edits/);
  await shows('Edits');
  model.when('write now', bash('echo ran > mode.txt'), say('Written.'));
  await send(page, 'write now');
  await page.locator('.answer', { hasText: 'Written.' }).waitFor();
  await state(page, 'idle');
  assert.equal(await contentOf('mode.txt'), 'ran\n');
  await choose(/^Full/);
  await focusedText(page, 'Keep asking');
  await shows('Edits');
  await page.locator('.head-menu[open]').getByRole('button', { name: 'Yes, never ask here' }).click();
  await page.locator('.banner', { hasText: 'This workstream runs every call without asking until' }).waitFor();
  await shows('Full');
});

test('the inbox has the questions of all workstreams; they are decided there, and leave when they are decided elsewhere', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await page.getByRole('button', { name: /^Inbox/ }).waitFor(); // it is known that the person decides
  await page.keyboard.press('Alt+i');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  const card = (text: string) => page.locator('.inbox article').filter({ hasText: text });
  for (const name of ['first', 'second', 'third']) {
    await openWorkstream(page, `inbox ${name}`);
    model.when(`ask ${name}`, bash(`echo ran > inbox-${name}.txt`), say(`Done: ${name}.`));
    await send(page, `ask ${name}`);
    await page.locator('.approval.pending').waitFor();
  }
  await page.keyboard.press('Alt+i');
  await card('inbox-third.txt').getByText('Writes: inbox-third.txt').waitFor();
  await card('inbox-third.txt')
    .getByText(/^asked just now · ends in \d+ minutes$/)
    .waitFor();
  const names = await page.locator('.inbox-line > button').allInnerTexts();
  assert.deepEqual(
    names.slice(-3).map((name) => name.split(':')[0]?.trim()),
    ['inbox first', 'inbox second', 'inbox third'],
  );
  await assertAccessible(page, 'the inbox');
  await card('inbox-first.txt').getByRole('button', { name: 'Approve' }).press('Enter');
  await card('inbox-first.txt').waitFor({ state: 'detached' });
  await card('inbox-second.txt').and(page.locator(':focus-within')).waitFor();
  const { approvals } = await (await daemon.client()).call('approval.list', {});
  const second = approvals.find(({ items }) => items[0]?.preview.includes('inbox-second'));
  await (await daemon.client()).call('approval.resolve', { approvalId: second?.approvalId ?? '', approved: false });
  await card('inbox-second.txt').waitFor({ state: 'detached' });
  await card('inbox-third.txt')
    .getByRole('button', { name: /^inbox third/ })
    .click();
  await page.getByRole('heading', { name: 'inbox third', level: 1 }).waitFor();
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Done: third.' }).waitFor();
  assert.equal(await contentOf('inbox-first.txt'), 'ran\n');
  assert.equal(await contentOf('inbox-second.txt'), 'not there');
});

test('rules are added with problems named at their fields, tried on past calls, changed, and deleted', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await connected(page);
  await openWorkstream(page, 'ruled');
  model.when('remove it', bash('rm -rf ruled.d'), say('Removed.'));
  await send(page, 'remove it');
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Removed.' }).waitFor();
  await openPart(page, 'Rules');
  await button(page, 'Add a rule').click();
  const form = dialog(page);
  const field = (label: string) => form.getByLabel(label, { exact: true });
  const choice = (name: string) => form.getByRole('combobox', { name, exact: true });
  await field('Its arguments').fill('-rf');
  await button(page, 'Add').click();
  await form.getByText('Arguments belong to a program. Fill in the program, too.').waitFor();
  await focused(page, '#rule-args');
  await assertAccessible(page, 'a rule with a problem');
  await field('Program in a command').fill('rm');
  await choice('What happens').selectOption({ label: 'block the call' });
  await field('Workstream').selectOption({ label: 'ruled' });
  await field('Ends').selectOption({ label: 'in one week' });
  await button(page, 'Try it').click();
  await form.getByText(/^bash: rm -rf ruled\.d$/).waitFor();
  await form.getByText(/^would be blocked; was: asked · .* in ruled$/).waitFor();
  await assertAccessible(page, 'a rule that is tried');
  await button(page, 'Add').click();
  const row = page.locator('.panel-row').filter({ hasText: 'Blocks commands that begin with “rm -rf”' });
  await row.getByText(/^in ruled, for the operator · given by you just now · ends in 7 days · never used$/).waitFor();
  await row.getByRole('button', { name: /^Try without/ }).click();
  await row.getByText(/^Of the latest \d+ calls, (none|\d+) would have been decided otherwise\.$/).waitFor();
  await assertAccessible(page, 'the rules');
  await row.getByRole('button', { name: /^Edit/ }).click();
  await choice('What happens').selectOption({ label: 'ask a person' });
  await field('Ends').selectOption({ label: 'no end' });
  await button(page, 'Save').click();
  const changed = page.locator('.panel-row').filter({ hasText: 'Asks about commands that begin with “rm -rf”' });
  await changed.getByText(/ · ends when the workstream is deleted · /).waitFor();
  await changed.getByRole('button', { name: /^Delete/ }).click();
  await changed.getByText('Delete this rule?').waitFor();
  await changed.getByRole('button', { name: 'Delete', exact: true }).click();
  await changed.waitFor({ state: 'detached' });
});

test('verdicts and findings in outputs are listed with what was decided, filtered, and opened', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await connected(page);
  await openWorkstream(page, 'judged');
  const secret = `sk-ant-api03-${'a'.repeat(93)}-${'A'.repeat(8)}`;
  model.when('judge this', bash('rm -rf judged.d'), bash(`echo key=${secret}`), say('Judged.'));
  await send(page, 'judge this');
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Judged.' }).waitFor();
  await openPart(page, 'Judge');
  const rows = page.locator('.judged');
  const removed = rows.filter({ hasText: 'Deletes judged.d' });
  await removed.getByText(/^approved · in /).waitFor();
  await page.getByLabel('Risk').selectOption('low');
  await removed.waitFor({ state: 'detached' });
  await page.getByLabel('Risk').selectOption('');
  await page.getByRole('combobox', { name: 'Workstream' }).selectOption({ label: 'judged' });
  await page.getByLabel('Since').selectOption({ label: 'the last hour' });
  await removed.getByText('Why').click();
  await removed.getByText('{"command":"rm -rf judged.d"}').waitFor();
  await assertAccessible(page, 'verdicts');
  await page.getByLabel('What').selectOption('outputs');
  await rows.getByText('secrets were replaced').waitFor();
  await assertAccessible(page, 'findings in outputs');
  await rows.getByRole('button', { name: /^judged/ }).click();
  await page.getByRole('heading', { name: 'judged', level: 1 }).waitFor();
});

test('a new workstream may begin in another mode', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await connected(page);
  await button(page, 'New workstream').click();
  await dialog(page).getByRole('combobox', { name: 'Mode', exact: true }).selectOption({ label: 'Edits' });
  await dialog(page).getByText('changes in its folders, builds and tests run without asking, too').waitFor();
  await button(page, 'Create').click();
  await page.locator('summary[aria-label^="Mode: Edits ("]').waitFor();
});
