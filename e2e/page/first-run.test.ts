import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { visit } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startLocalServer } from '../support/model/local-server.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

const daemon = await startDaemon(); // with the demo model
after(() => daemon[Symbol.asyncDispose]());

/** The name of what has the focus, which must be visible: it has an outline or a ring, or is a field. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return 'nothing';
    const { outlineStyle, boxShadow } = getComputedStyle(element);
    const field = element.closest('form');
    const isSeen = outlineStyle !== 'none' || boxShadow !== 'none' || (field !== null && element.matches('textarea'));
    return `${isSeen ? '' : 'invisible: '}${element.getAttribute('aria-label') ?? element.innerText ?? element.tagName}`;
  });

/** Presses a key until something with this name has the focus. */
async function moveTo(page: Page, key: 'Tab' | 'Shift+Tab', name: RegExp): Promise<void> {
  const passed: string[] = [];
  while (!name.test(passed.at(-1) ?? '')) {
    assert.ok(passed.length < 40, `not reached by ${key}: ${passed.join(', ')}`);
    await page.keyboard.press(key);
    passed.push(await focused(page));
  }
  assert.doesNotMatch(passed.at(-1) ?? '', /^invisible/);
}

test('a person sets up Headgate, gives a task, decides, and finds inbox and settings by the keyboard alone', async (t) => {
  const { page, openTab } = await visit(t, daemon);
  const status = (text: string | RegExp) => page.locator('[role=status]', { hasText: text }).waitFor();
  await page.getByRole('heading', { name: 'First steps', level: 2 }).waitFor();
  await page.getByRole('radio', { name: /^demo/ }).waitFor();
  await assertAccessible(page, 'the first steps');
  const top = await page.locator('.transcript').evaluate((view) => view.scrollTop);
  assert.equal(top, 0, 'they are read from their start');

  await moveTo(page, 'Shift+Tab', /^Test this model$/);
  await page.keyboard.press('Enter');
  await status(/^It works: demo answered/);
  await moveTo(page, 'Tab', /^Start the task$/);
  await page.keyboard.press('Enter');
  await page.locator('.approval.pending').waitFor();
  await status(/asks before it changes something/);
  await assertAccessible(page, 'the first question');
  const notice = await page.locator('.task-notice > div').boundingBox();
  const box = await page.locator('.composer-box').boundingBox();
  assert.deepEqual([notice?.x, notice?.width], [box?.x, box?.width], 'the notice has the column of the message field');

  await page.keyboard.press('Alt+i');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.locator('main', { hasText: 'hello.txt' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
  await page.keyboard.press('Alt+q');
  await page.locator('.approval.pending:focus-within, .approval.pending:focus').waitFor();
  await page.locator('.approval.pending .decision:not([data-guarded])').waitFor();
  await page.keyboard.press('Alt+y');
  await status(/^That was all/);
  assert.equal(await readFile(path.join(daemon.home, 'workspace/hello.txt'), 'utf8'), 'Hello from Headgate!\n');

  await page.keyboard.press('Alt+a');
  await page.getByRole('heading', { name: 'Account' }).waitFor();
  await page.keyboard.press('Escape');
  await moveTo(page, 'Shift+Tab', /^Finish$/);
  await page.keyboard.press('Enter');
  await page.locator('.task-notice').waitFor({ state: 'detached' });

  const again = await openTab();
  await again.getByRole('tab', { name: 'main' }).click();
  await again.getByRole('button', { name: 'Show the first steps' }).waitFor();
  assert.equal(await again.locator('.first-steps').count(), 0, 'it does not open by itself again');
});

test('a server and its key are entered on the page, tested, and can be used at once', async (t) => {
  const model = await startScriptedModel();
  t.after(() => model.close());
  const { page } = await visit(t, daemon);
  await page.getByRole('button', { name: 'Show the first steps' }).first().click();
  const more = page.getByText('Add a model', { exact: true });
  const before = await more.boundingBox();
  await more.click();
  assert.deepEqual(await more.boundingBox(), before, 'the opened part does not move');
  await page.getByLabel('Provider').selectOption({ label: 'Another server that is compatible with OpenAI' });
  await page.getByLabel('Address').fill('http://127.0.0.1:9/v1');
  await page.getByRole('textbox', { name: 'Model' }).fill('scripted');
  await page.getByLabel('Key, if it needs one').fill('sk-entered-canary');
  await page.getByLabel('Key, if it needs one').press('Enter');
  const said = page.locator('.more-models [role=status]');
  await said.getByText('Nothing was stored.').waitFor();
  assert.equal(await page.getByLabel('Key, if it needs one').inputValue(), '', 'the key is not kept on the page');
  await page.getByLabel('Address').fill(model.url);
  await page.getByLabel('Key, if it needs one').fill('sk-entered-canary');
  await page.getByRole('button', { name: 'Test and add' }).click();
  await said.getByText('scripted works, and is chosen for the task.').waitFor();
  assert.equal(await page.getByRole('radio', { name: /^scripted/ }).isChecked(), true);
  const client = await daemon.client();
  const { config } = await client.call('config.get', {});
  assert.ok(!JSON.stringify([config, await page.content(), daemon.output()]).includes('sk-entered-canary'));
  model.when('what are you', say('A scripted one.'));
  const { wsId } = await client.call('workstream.create', { model: 'scripted' });
  await client.call('agent', { sessionKey: wsId, message: 'what are you', idempotencyKey: 'what' });
  assert.equal(model.requests.at(-1)?.headers.authorization, 'Bearer sk-entered-canary');
});

test('a model with a key is tested, kept and used without a restart, the key is shown nowhere; a server of this machine is found and used', async (t) => {
  const model = await startScriptedModel();
  t.after(() => model.close());
  const client = await daemon.client();
  const { hash } = await client.call('config.get', {});
  const other = { provider: 'openai', baseUrl: model.url, model: 'scripted', apiKey: 'sk-canary-key' } as const;
  const tested = await client.call('models.test', {
    model: 'x',
    candidate: { ...other, provider: 'openai-compatible' },
  });
  assert.equal(tested.ok, true);
  const raw = JSON.stringify({ models: { lab: { ...other, provider: 'openai-compatible' } }, defaultModel: 'lab' });
  const { restart } = await client.call('config.patch', { raw, baseHash: hash, extended: true });
  assert.deepEqual(restart, []);
  model.when('are you new', say('I am new.'));
  const { wsId } = await client.call('workstream.create', { model: 'lab' });
  await client.call('agent', { sessionKey: wsId, message: 'are you new', idempotencyKey: 'new' });
  assert.equal(model.requests.length > 0, true);
  const seen = JSON.stringify([
    await client.call('config.get', {}),
    await client.call('models.list', {}),
    daemon.output(),
  ]);
  assert.ok(!seen.includes('sk-canary-key'));
  const local = await startLocalServer('found-on-the-page');
  t.after(() => local.close());
  const { page } = await visit(t, daemon);
  await page.getByRole('button', { name: 'Show the first steps' }).first().click();
  await page.getByText('Add a model', { exact: true }).click();
  await page.getByRole('button', { name: 'Look for servers on this machine' }).click();
  await page.getByRole('button', { name: /^Use found-on-the-page of / }).click();
  await page.getByText('found-on-the-page works, and is chosen for the task.').waitFor();
  assert.equal(await page.getByRole('radio', { name: /^found-on-the-page/ }).isChecked(), true);
  assert.ok(local.others.length > 0 && local.others.every((one) => !one.includes('Bearer')), 'no key is sent there');
  local.when('were you found', say('I was found.'));
  const { wsId: fresh } = await client.call('workstream.create', { model: 'found-on-the-page' });
  await client.call('agent', { sessionKey: fresh, message: 'were you found', idempotencyKey: 'found' });
  assert.equal(local.requests.at(-1)?.body.model, 'found-on-the-page');
  await page.getByRole('button', { name: 'Test and add', disabled: true }).waitFor();
  assert.equal(await page.getByLabel('Key', { exact: true }).getAttribute('type'), 'password');
  await assertAccessible(page, 'adding a model');
});
