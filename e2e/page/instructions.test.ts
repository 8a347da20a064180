import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { tempDir } from '../../src/testing/temp-store.ts';
import { button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const folder = tempDir();
after(() => folder[Symbol.dispose]());
await writeFile(`${folder.path}/AGENTS.md`, 'Answer in rhymes.');
await mkdir(`${folder.path}/.headgate/commands`, { recursive: true });
await writeFile(`${folder.path}/.headgate/commands/review.md`, 'Review it.');
const { model, daemon } = await openStage({ args: ['--workdir', folder.path] });

const systemOf = () => String(model.requests.at(-1)?.body.messages[0]?.content);
const field = 'Message';

test('the first message asks about instructions of a folder that is not trusted; the answer counts', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'rhymes');
  model.when('hello', say('Hi.'));
  await send(page, 'hello');
  const card = page.locator('.approval.pending');
  await card.getByRole('heading', { name: 'May the agent follow these instructions?' }).waitFor();
  assert.match(await card.innerText(), /AGENTS\.md[\s\S]*Answer in rhymes\./);
  assert.equal(await button(page, 'Always allow…').count(), 0);
  await page.reload();
  await button(page, 'Follow them').click();
  await page.locator('.answer', { hasText: 'Hi.' }).waitFor();
  await state(page, 'idle');
  assert.match(systemOf(), /Answer in rhymes\./);
  await page.locator('.outcome', { hasText: 'Used: instructions' }).waitFor();
  assert.equal(await page.locator('.tool').count(), 0);
  await page.getByRole('textbox', { name: field }).pressSequentially('/rev');
  await page.getByRole('option', { name: /\/review/ }).waitFor();
});

test('instructions that are ignored do not reach the model', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'prose');
  model.when('good day', say('Good day.'));
  await send(page, 'good day');
  await button(page, 'Ignore them').click();
  await page.locator('.answer', { hasText: 'Good day.' }).waitFor();
  assert.doesNotMatch(systemOf(), /Answer in rhymes\./);
  await page.reload();
  await page.locator('.outcome', { hasText: 'Not used: instructions' }).waitFor();
});
