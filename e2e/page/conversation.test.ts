import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, PASSWORD } from '../support/clients/accounts.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { blocksOf, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall, think } from '../support/model/scripted-steps.ts';

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

test('the list has what waits, what runs and what is new, each with its state, and is narrowed by model and person', async (t) => {
  const { page } = await visit(t, daemon);
  /** Waits until a row of this section has these texts, or until none has. */
  const has = (section: string, texts: readonly string[], isThere = true) =>
    page.waitForFunction(
      (wanted) => {
        const rows = [...document.querySelectorAll('.tabs > li')];
        const from = rows.findIndex((each) => each.matches('.tabs-head') && each.textContent === wanted.section);
        const end = rows.findIndex((each, index) => index > from && each.matches('.tabs-head'));
        const found = from === -1 ? [] : rows.slice(from, end === -1 ? rows.length : end);
        const isRow = (each: Element) => wanted.texts.every((text) => each.textContent?.includes(text));
        return found.some(isRow) === wanted.isThere;
      },
      { section, texts, isThere },
    );
  const row = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });

  const rest = stall();
  model.when('work on', [say('one '), rest, say('two')]);
  await openWorkstream(page, 'list works');
  await send(page, 'work on');
  await page.locator('.answer', { hasText: 'one' }).waitFor();
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'touch asked' } }), say('Done.'));
  await openWorkstream(page, 'list asks');
  await send(page, 'ask me');
  await page.locator('.approval.pending').waitFor();
  await openWorkstream(page, 'list rests');
  await has('Waiting for you', ['list asks', 'waiting for you', 'asks']);
  await has('Running', ['list works', 'thinking']);
  await has('Open', ['list rests', 'idle']);
  rest.release();
  await has('Open', ['list works', 'idle', 'unread']);
  await row('list works').click();
  await page.locator('.answer', { hasText: 'one two' }).waitFor();
  await row('list rests').click();
  await has('Open', ['list works', 'unread'], false);

  const client = await daemon.client();
  const { username } = await newUser(daemon, ['builtin-operator'], 'Ada of the list');
  const login = await askApi(daemon, ['POST', 'auth/login'], { body: { username, password: PASSWORD } });
  const made = await askApi(daemon, ['POST', 'workstreams/new'], {
    body: { name: 'list of ada' },
    token: login.body.jwt,
  });
  assert.equal(made.status, 200);
  await client.call('workstream.create', { name: 'list by demo', model: 'demo' });
  const [ada, demo, rests] = [row('list of ada'), row('list by demo'), row('list rests')];
  await Promise.all([ada, demo, rests].map((one) => one.waitFor()));
  await page.reload(); // the page learns with its login that there are people
  await page.getByRole('button', { name: 'Filters' }).press('Enter');
  const field = (name: string) =>
    page.getByRole('combobox', { name, exact: true }).and(page.locator('.filter-fields *'));
  await field('Model').selectOption('demo');
  await rests.waitFor({ state: 'detached' });
  await demo.waitFor();
  await field('Model').selectOption('All models');
  await rests.waitFor();
  await field('Person').selectOption('Ada of the list');
  await rests.waitFor({ state: 'detached' });
  await ada.waitFor();
  assert.equal(await demo.count(), 0);
});
