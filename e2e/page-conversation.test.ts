import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { blocksOf, button, openWorkstream, send, state, visit } from './browser.ts';
import { startDaemon } from './daemon.ts';
import { startScriptedModel } from './scripted-model.ts';
import { say, stall, think } from './scripted-steps.ts';

const model = await startScriptedModel();
const daemon = await startDaemon({ model: model.url });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await model.close();
});

const MARKDOWN = `# A heading

Some **bold** and \`code\`.

| name | size |
|---|---:|
| one | 1 |

3. third
4. fourth

- [x] finished

\`\`\`diff
-before
+after
\`\`\`
`;

test('an answer streams as Markdown', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'markdown');
  const rest = stall();
  const cut = MARKDOWN.indexOf('third');
  model.when('markdown please', [say(MARKDOWN.slice(0, cut)), rest, say(MARKDOWN.slice(cut))]);
  await send(page, 'markdown please');
  const answer = page.locator('.answer');
  await answer.locator('table').waitFor();
  await page.locator('.answer[aria-busy=true]').waitFor();
  await state(page, 'thinking');
  assert.equal(await answer.locator('.code').count(), 0);
  rest.release();
  await page.locator('.answer[aria-busy=false]').waitFor();
  const shown = await answer.evaluate((element) =>
    Object.fromEntries(
      ['h1', 'strong', 'code', 'td[align=right]', 'ol[start="3"] li', 'input[type=checkbox]:disabled', '.added'].map(
        (selector) => [selector, [...element.querySelectorAll(selector)].map(({ textContent }) => textContent)],
      ),
    ),
  );
  assert.deepEqual(shown, {
    h1: ['A heading'],
    strong: ['bold'],
    code: ['code', '-before\n+after\n'],
    'td[align=right]': ['1'],
    'ol[start="3"] li': ['third', 'fourth'],
    'input[type=checkbox]:disabled': [''],
    '.added': ['+after\n'],
  });
  await state(page, 'idle');
});

test('reasoning is folded away and opens on a click', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'reasoning');
  const rest = stall();
  model.when('reason', [think('The user ', 'asks for it.'), rest, say('Here it is.')]);
  await send(page, 'reason');
  const summary = page.locator('.reasoning summary');
  await summary.filter({ hasText: 'Reasoning…' }).waitFor();
  rest.release();
  await page.locator('.answer', { hasText: 'Here it is.' }).waitFor();
  const thought = page.getByText('The user asks for it.');
  assert.equal(await thought.isVisible(), false);
  await summary.click();
  await thought.waitFor();
});

test('an error of the model is told in the conversation, and the next message works', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'trouble');
  await send(page, 'nobody scripted this');
  await page.locator('.note.error', { hasText: 'Nothing is scripted for request' }).waitFor();
  await state(page, 'error');
  model.when('again', say('Better now.'));
  await send(page, 'again');
  await page.locator('.answer', { hasText: 'Better now.' }).waitFor();
  await state(page, 'idle');
});

test('while the agent works the next message can be written, and is sent when it is done', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'draft');
  const rest = stall();
  model.when('first', [say('one '), rest, say('two')]);
  model.when('second', say('three'));
  await send(page, 'first');
  await page.locator('.answer', { hasText: 'one' }).waitFor();
  await send(page, 'second');
  const field = page.getByRole('textbox', { name: 'Message' });
  assert.equal(await field.inputValue(), 'second', 'Enter keeps it while the agent works');
  rest.release();
  await button(page, 'Send').click();
  await page.locator('.answer', { hasText: 'three' }).waitFor();
  assert.deepEqual(await blocksOf(page), ['You: first', 'one two', 'You: second', 'three']);
});

test('Load earlier messages brings the older ones in order, and what was in view stays in view', async (t) => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'long' });
  model.when('number', say('taken'));
  for (let n = 1; n <= TURNS; n += 1) {
    await client.call('agent', { message: `number ${n}`, sessionKey: wsId, idempotencyKey: `${wsId} ${n}` });
  }
  const { page } = await visit(t, daemon);
  await page.getByRole('tab', { name: 'long' }).click();
  await page.locator('.block.user', { hasText: new RegExp(`number ${TURNS}$`) }).waitFor();
  const shown = async () => (await blocksOf(page)).filter((text) => text.startsWith('You:'));
  const numbers = (from: number) => Array.from({ length: TURNS - from + 1 }, (_, at) => `You: number ${from + at}`);
  assert.deepEqual(await shown(), numbers(TURNS - 99));
  await page.locator('.transcript').focus();
  await page.keyboard.press('Home');
  const top = page.locator('.block.user', { hasText: new RegExp(`number ${TURNS - 99}$`) });
  await top.waitFor();
  await button(page, 'Load earlier messages').click();
  await page.locator('.block.user', { hasText: /number 1$/ }).waitFor({ state: 'attached' });
  assert.deepEqual(await shown(), numbers(1));
  assert.equal(await button(page, 'Load earlier messages').count(), 0);
  assert.equal(await isInView(top), true);
});

const TURNS = 105;

const isInView = (element: Locator) =>
  element.evaluate((shown) => {
    const view = shown.closest('.transcript')?.getBoundingClientRect();
    const { top, bottom } = shown.getBoundingClientRect();
    return view !== undefined && top < view.bottom && bottom > view.top;
  });
