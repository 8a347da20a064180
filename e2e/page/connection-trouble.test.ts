import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import { needs } from '../../src/testing/needs.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { openPart } from '../support/clients/accounts.ts';
import { blocksOf, button, hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { focused } from '../support/clients/focus.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

/** Without a sandbox, the card of a command says so. */
const sandboxed = await needs('bubblewrap');
const { model, daemon } = await openStage();

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const disconnected = (page: Page) => page.locator('.banner.warning', { hasText: 'Disconnected. Nothing is lost' });

test('while disconnected a banner counts down, the draft stays, and a notification waits; Try now reconnects at once', async (t) => {
  const { page } = await visit(t, daemon, { losesDaemon: true });
  const wsId = await openWorkstream(page, 'away');
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'touch away' } }), say('Done.'));
  await send(page, 'ask me');
  await page.locator('.approval.pending').waitFor();
  const client = await daemon.client();
  const { approvals } = await client.call('approval.list', {});
  const id = approvals.find((one) => one.wsId === wsId)?.approvalId;
  await field(page).fill('half a thought');
  await daemon.kill9();
  await disconnected(page)
    .getByText(/Next attempt in [0-9]+ s\./)
    .waitFor();
  await page.getByText('Disconnected', { exact: true }).first().waitFor();
  await page.goto(`${daemon.url}/#inbox=${id}`); // a notification that is opened meanwhile
  await page.waitForFunction((of) => document.activeElement?.getAttribute('aria-labelledby') === of, `inbox-${id}`);
  await page.goto(`${daemon.url}/#conversation=${wsId}`); // a link, which is followed when it can be
  await daemon.restart();
  // The reconnect delay grows to half a minute, so without the button this could exceed the test's timeout.
  const connected = page.locator('.link-open').waitFor();
  const clicked = button(page, 'Try now')
    .click()
    .catch(() => undefined); // it may reconnect first, which removes the button
  await Promise.race([clicked, connected]);
  await connected;
  await disconnected(page).waitFor({ state: 'detached' });
  await hasValue(field(page), 'half a thought');
});

test('a message sent while disconnected is shown as waiting, and survives a reload as a draft', async (t) => {
  const { page } = await visit(t, daemon, { losesDaemon: true });
  await openWorkstream(page, 'waits');
  await daemon.kill9();
  await disconnected(page).waitFor();
  await send(page, 'are you there');
  await page.getByText('Will be sent once reconnected').waitFor();
  const kept = await page.evaluate(() => sessionStorage.getItem('headgate.drafts'));
  assert.match(kept ?? '', /are you there/);
  model.when('are you there', say('I am back.'));
  await daemon.restart();
  await page.locator('.answer', { hasText: 'I am back.' }).waitFor();
  await state(page, 'idle');
  assert.deepEqual(await blocksOf(page), ['You: are you there', 'I am back.']);
  assert.doesNotMatch((await page.evaluate(() => sessionStorage.getItem('headgate.drafts'))) ?? '', /are you there/);
});

test('when a login ends, the login card appears, and the draft is there after the next login', async (t) => {
  const { page, context } = await visit(t, daemon, { expected: [/WebSocket connection/, /status of 401/] });
  await openWorkstream(page, 'expired');
  await field(page).fill('half a thought');
  const ended = await context.request.post(new URL('/v1/api/auth/logout', daemon.url).href, { data: {} });
  assert.equal(ended.status(), 200);
  await page.getByRole('heading', { name: 'Log in to Headgate' }).waitFor();
  await page.getByLabel('Or paste the link or a token').fill(daemon.token);
  await button(page, 'Log in').click();
  await page.getByRole('heading', { name: 'expired', level: 1 }).waitFor();
  await hasValue(field(page), 'half a thought');
});

test('the page says when the daemon cannot save and when it can again; after an update it offers a reload', async (t) => {
  const { context } = await visit(t, daemon);
  const page = await context.newPage();
  let change = (text: string) =>
    text.replaceAll('"store":{"status":"ok"}', '"store":{"status":"degraded","reason":"the disk is full"}');
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    sockets.push(socket);
    socket.connectToServer().onMessage((message) => socket.send(change(String(message))));
  });
  await page.goto(daemon.url);
  const degraded = page.locator('.banner.error', { hasText: 'Headgate cannot save data (the disk is full)' });
  await degraded.waitFor();
  change = (text) => text.replaceAll(/"version":"[^"]+"/g, '"version":"99.0.0"');
  await sockets[0]?.close();
  await degraded.waitFor({ state: 'detached' });
  const updated = page.locator('.banner', { hasText: 'Headgate has been updated.' });
  await updated.waitFor();
  await button(page, 'Reload').click();
  await updated.waitFor({ state: 'detached' });
});

/** Opens the page with a switch for its connection. */
async function openSwitched(t: TestContext) {
  const { context } = await visit(t, daemon);
  const page = await context.newPage();
  /** The method whose next call is lost with its connection, which stays away until `returns`. */
  let lost = '';
  /** The method whose next call fails. */
  let failing = '';
  let isAway = false;
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    if (isAway) return void socket.close();
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const { id, method } = JSON.parse(String(message));
      if (method === lost) {
        isAway = true;
        void socket.close();
      } else if (method === failing) {
        failing = '';
        socket.send(
          JSON.stringify({ type: 'res', id, ok: false, error: { code: 'BUSY', message: 'the store is busy' } }),
        );
      } else server.send(message);
    });
  });
  await page.goto(daemon.url);
  await page.locator('.link-open').waitFor();
  return {
    page,
    loses: (method: string) => {
      lost = method;
    },
    fails: (method: string) => {
      failing = method;
    },
    async returns() {
      lost = '';
      isAway = false;
      // The page may be back by itself before the click.
      const clicked = button(page, 'Try now').click();
      await Promise.race([page.locator('.link-open').waitFor(), clicked.catch(() => undefined)]);
    },
  };
}

test('a view that loses its connection while it loads waits and then loads; another failure can be tried again', async (t) => {
  const { page, loses, fails, returns } = await openSwitched(t);
  const views = [
    ['settings.list', () => openPart(page, 'Settings'), '.setting-section'],
    ['user.list', () => openPart(page, 'Users'), '.empty'],
    ['role.list', () => openPart(page, 'Roles'), '.panel-row'],
    ['policy.list', () => openPart(page, 'Tool policies'), '.empty'],
    ['audit.list', () => openPart(page, 'Audit trail'), '.audit-event'],
    ['usage.get', () => page.keyboard.press('Alt+u'), '.usage-table, .usage .panel-none'],
    ['cron.list', () => page.keyboard.press('Alt+s'), '.cron .panel-none'],
  ] as const;
  const waits = page.getByRole('status').getByText('Not connected. This loads when the connection is back.');
  for (const [method, open, content] of views) {
    loses(method);
    await open();
    await waits.waitFor();
    assert.deepEqual((await page.getByRole('alert').allInnerTexts()).filter(Boolean), [], method);
    if (method === 'settings.list') await assertAccessible(page, 'a view that waits for the connection');
    await returns();
    await page.locator(content).first().waitFor();
    await waits.waitFor({ state: 'detached' });
  }
  fails('usage.get');
  await page.keyboard.press('Alt+u');
  await page.getByRole('alert').getByText('the store is busy').waitFor();
  await assertAccessible(page, 'a view that could not be loaded');
  await button(page, 'Try again').press('Enter');
  await button(page, 'Try again').waitFor({ state: 'detached' });
  await focused(page, '#usage-title');
});

test('a part of the page that cannot be loaded can be tried again; one of another build asks for a reload, which keeps the draft', async (t) => {
  const { page, openTab } = await visit(t, daemon, { expected: [/net::ERR_FAILED/, /status of 404/] });
  await openWorkstream(page, 'parts');
  await page.route(/\/static\/usage/, (route) => route.abort());
  await page.keyboard.press('Alt+u');
  await page.getByRole('alert').getByText('This part of the page could not be loaded.').waitFor();
  await focused(page, '#usage-title');
  await assertAccessible(page, 'a part of the page that could not be loaded');
  await page.unrouteAll();
  await button(page, 'Try again').press('Enter');
  await page.getByRole('group', { name: 'Add up by' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'parts', level: 1 }).waitFor();
  const other = await openTab();
  await other.locator('.link-open').waitFor();
  await field(other).fill('half a thought');
  await other.route(/\/static\/nodes/, (route) => route.fulfill({ status: 404, body: 'Not found' }));
  await other.keyboard.press('Alt+o');
  await other.getByRole('alert').getByText('Headgate was updated since you opened this page.').waitFor();
  await other.unrouteAll();
  await button(other, 'Reload the page').click();
  await other.locator('.link-open').waitFor();
  await hasValue(field(other), 'half a thought');
  await other.keyboard.press('Alt+o');
  await other.getByRole('heading', { name: 'No nodes are paired' }).waitFor();
});

test('the first steps have a model for each key that was found; one that the provider refuses is reported there and in a banner', async (t) => {
  const strict = await startScriptedModel({ key: 'the right one' });
  const refused = await startDaemon({
    model: strict.url,
    env: { OPENAI_API_KEY: 'the wrong one', ANTHROPIC_API_KEY: 'never used' },
  });
  const { page } = await visit(t, refused);
  t.after(async () => {
    await refused[Symbol.asyncDispose]();
    await strict.close();
  });
  // The first steps have a model for each key that was found, and test one with a click.
  await page.getByRole('radio', { name: /^openai-compatible/ }).waitFor();
  await page.getByRole('radio', { name: /^anthropic/ }).waitFor();
  await page.getByRole('button', { name: 'Test this model' }).click();
  await page.locator('.first-steps [role=status]', { hasText: /rejected the key from OPENAI_API_KEY/ }).waitFor();
  await openWorkstream(page, 'wrong key');
  await send(page, 'hello');
  await page.locator('.banner.warning', { hasText: /rejected the key from OPENAI_API_KEY/ }).waitFor();
  await page.locator('.note.error').first().waitFor();
});

/** The stored events of a workstream, as the blocks of the page. */
async function storedBlocks(wsId: string): Promise<string[]> {
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  return messages.flatMap(({ role, content }) => {
    if (content === null || content === '' || role === 'tool') return [];
    return [role === 'user' ? `You: ${content}` : content];
  });
}

test('repeated kills during a stream: the text on the screen stays, and nothing is lost or duplicated', async (t) => {
  const { page } = await visit(t, daemon, { losesDaemon: true });
  const wsId = await openWorkstream(page, 'kills');
  for (const round of [1, 2, 3]) {
    const words = Array.from({ length: 40 * round }, (_, index) => `r${round}w${index} `);
    model.when(`round ${round}`, [say(...words), stall()]);
    await send(page, `round ${round}`);
    await page
      .locator('.answer', { hasText: `w${words.length - 1}` })
      .last()
      .waitFor();
    const before = await blocksOf(page);
    await daemon.kill9();
    await disconnected(page).waitFor();
    assert.deepEqual(await blocksOf(page), before, 'loaded messages stay readable');
    model.when(`round ${round}`, say(...words, `The end of ${round}.`));
    await daemon.restart();
    await page.locator('.answer', { hasText: `The end of ${round}.` }).waitFor();
    await state(page, 'idle');
    await disconnected(page).waitFor({ state: 'detached' });
  }
  const shown = await blocksOf(page);
  const stored = (await storedBlocks(wsId)).map((text) => text.replace(/\s+/g, ' ').trim());
  assert.deepEqual(shown, stored);
  assert.equal(shown.length, 6);
  await page.reload();
  await page.locator('.answer', { hasText: 'The end of 3.' }).waitFor();
  assert.deepEqual(await blocksOf(page), stored);
});

test('killed while a command prints: its output appears once, and the page equals a new one', sandboxed, async (t) => {
  const { page, openTab } = await visit(t, daemon, { losesDaemon: true });
  await openWorkstream(page, 'prints');
  // Leaves its mark before it prints, because the daemon is killed as soon as the output is seen.
  const command =
    '[ -e printed ] && again=1; touch printed; for i in 1 2 3; do echo line $i; done; [ "$again" ] || sleep 60';
  model.when('print', callTools({ name: 'bash', arguments: { command } }), say('Printed.'));
  await send(page, 'print');
  await button(page, 'Approve').click();
  await page.locator('.tool.running', { hasText: 'line 3' }).waitFor();
  await daemon.kill9();
  await daemon.restart();
  await page.locator('.approval.pending', { hasText: 'Run this again?' }).waitFor();
  await button(page, 'Run again').click();
  await page.locator('.answer', { hasText: 'Printed.' }).waitFor();
  await state(page, 'idle');
  const fresh = await openTab();
  await fresh.getByRole('tab', { name: 'prints' }).click();
  await fresh.locator('.answer', { hasText: 'Printed.' }).waitFor();
  const tools = (each: Page) => each.locator('.tool').allInnerTexts();
  const shown = await tools(page);
  assert.equal(shown.at(-1)?.match(/line 3/g)?.length, 1);
  assert.deepEqual(shown.at(-1), (await tools(fresh)).at(-1));
});
