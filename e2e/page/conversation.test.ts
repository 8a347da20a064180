import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, openWorkstream, send, state, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

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
  const { page } = await visitAgain(t, daemon);
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
  await answer.locator('.hljs-addition').waitFor();
  const shown = await answer.evaluate((element) =>
    Object.fromEntries(
      [
        'h1',
        'strong',
        'code',
        'td[align=right]',
        'ol[start="3"] li',
        'input[type=checkbox]:disabled',
        '.hljs-addition',
      ].map((selector) => [selector, [...element.querySelectorAll(selector)].map(({ textContent }) => textContent)]),
    ),
  );
  assert.deepEqual(shown, {
    h1: ['A heading'],
    strong: ['bold'],
    code: ['code', '-before\n+after\n'],
    'td[align=right]': ['1'],
    'ol[start="3"] li': ['third', 'fourth'],
    'input[type=checkbox]:disabled': [''],
    '.hljs-addition': ['+after'],
  });
  await state(page, 'idle');
});

test('reasoning is collapsed and opens on a click', async (t) => {
  const { page } = await visitAgain(t, daemon);
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

test('a model error is shown in the conversation, and the next message works', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'trouble');
  await send(page, 'nobody scripted this');
  await page.locator('.note.error', { hasText: 'Nothing is scripted for request' }).waitFor();
  await state(page, 'error');
  model.when('again', say('Better now.'));
  await send(page, 'again');
  await page.locator('.answer', { hasText: 'Better now.' }).waitFor();
  await state(page, 'idle');
});

test('a message that is sent while the agent works waits, and is answered when the run has ended', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'draft');
  const rest = stall();
  model.when('first', [say('one '), rest, say('two')]);
  model.when('second', say('three'));
  await send(page, 'first');
  await page.locator('.answer', { hasText: 'one' }).waitFor();
  await send(page, 'second');
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('second').waitFor();
  rest.release();
  await page.locator('.answer', { hasText: 'three' }).waitFor();
  assert.deepEqual(await blocksOf(page), ['You: first', 'one two', 'You: second', 'three']);
});
