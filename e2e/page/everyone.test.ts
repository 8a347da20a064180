import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import { blocksOf, button, openDrawer, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

/** Collects what live regions say from now on, in order. */
async function listen(page: Page) {
  await page.evaluate(() => {
    const LIVE = '[aria-live], [role=status], [role=alert], [role=log]';
    const said: string[] = [];
    Object.assign(window, { said });
    const tell = (node: Node) => {
      const element = node instanceof Element ? node : node.parentElement;
      const text = node.textContent?.replace(/\s+/g, ' ').trim();
      if (text && (element?.closest(LIVE) || element?.querySelector(LIVE)) && said.at(-1) !== text) said.push(text);
    };
    new MutationObserver((changes) => {
      for (const { type, target, addedNodes } of changes)
        if (type === 'characterData') tell(target);
        else addedNodes.forEach(tell);
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  return {
    said: (): Promise<string[]> => page.evaluate(() => Reflect.get(window, 'said').splice(0)),
    untilSaid: (text: string) =>
      page.waitForFunction((wanted) => Reflect.get(window, 'said').some((line: string) => line.includes(wanted)), text),
  };
}

test('screen readers are told an answer by sentences, an approval, the end of a run, and an error', async (t) => {
  const { page } = await visit(t, daemon, { expected: [/status of 400/] });
  await openWorkstream(page, 'told');
  const { said, untilSaid } = await listen(page);
  // States that follow each other within a moment are drawn once, so the model waits until the first one was told.
  const thinks = stall();
  model.when(
    'tell me',
    [thinks, say('It is *long*. It g', 'oes on.'), bash('echo told | tee told')],
    say('That was it.'),
  );
  await send(page, 'tell me');
  await untilSaid('thinking');
  await untilSaid('Stop');
  assert.deepEqual(await said(), ['thinking', 'Stop']);
  thinks.release();
  await page.locator('.approval.pending').waitFor();
  await untilSaid('waiting for you');
  // Pieces of the answer that arrive together are told together. The state may be told between them: it is another live region.
  const sentences = (await said()).filter((line) => line !== 'waiting for you');
  assert.equal(sentences.join(' '), 'It is long. It goes on.');
  await button(page, 'Approve').click();
  await untilSaid('the agent has finished');
  const ended = await said();
  assert.deepEqual(ended.slice(-2).toSorted(), ['That was it.', 'the agent has finished']);
  model.when('fail now', fail(400, { message: 'the model is away' }));
  await send(page, 'fail now');
  await untilSaid('the model is away');
});

test('a page that is magnified to 200 % has all its controls in reach and scrolls in one direction only', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'magnified');
  await page.setViewportSize({ width: 640, height: 400 });
  const wide = 'a-word-that-fits-nowhere-'.repeat(12);
  model.when('magnify', [say(`${wide}\n\n`.repeat(6)), bash(`echo ${wide} | tee wide`)], say('Large.'));
  await send(page, 'magnify');
  await page.locator('.approval.pending').waitFor();
  for (const name of ['Approve', 'Deny…', 'Always allow…', 'Stop', 'Attach files']) {
    const control = button(page, name);
    await control.click({ trial: true });
  }
  assert.deepEqual(await sideways(page), []);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Large.' }).waitFor();
  await page.getByRole('button', { name: /^Workstreams/ }).click();
  for (const name of ['New workstream', 'Saved conversations', 'Log out'])
    await button(page, name).click({ trial: true });
  assert.deepEqual(await sideways(page), []);
});

/** The page, and all that scrolls up and down, must not scroll sideways, too. */
const sideways = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter((element) => {
        const { overflowX, overflowY } = getComputedStyle(element);
        const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
        const isPage = element === document.documentElement;
        const down = isPage || (scrolls(overflowY) && element.scrollHeight > element.clientHeight + 1);
        return down && (isPage || scrolls(overflowX)) && element.scrollWidth > element.clientWidth + 1;
      })
      .map(({ outerHTML }) => outerHTML.slice(0, 80)),
  );

test('nothing moves for a person who wants no motion, while an agent works and asks', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'still');
  const rest = stall();
  model.when('be still', [rest, bash('echo still | tee still')], say('Still.'));
  await send(page, 'be still');
  await page.waitForFunction(() => document.getAnimations().length > 0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.waitForFunction(() => document.getAnimations().length === 0);
  rest.release();
  await page.locator('.approval.pending').waitFor();
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Still.' }).waitFor();
});

test('a message written offline is sent once, and what was said meanwhile is there once', async (t) => {
  const { context } = await visit(t, daemon, {
    losesDaemon: true,
    expected: [/net::ERR_INTERNET_DISCONNECTED/],
  });
  const page = await context.newPage();
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    sockets.push(socket);
    socket.connectToServer();
  });
  await page.goto(daemon.url);
  const wsId = await openWorkstream(page, 'offline');
  model.when('before', say('Heard before.'));
  await send(page, 'before');
  await page.locator('.answer', { hasText: 'Heard before.' }).waitFor();
  await context.setOffline(true);
  await sockets.at(-1)?.close(); // Chromium lets an open connection live
  await page.locator('.banner.warning', { hasText: 'Disconnected' }).waitFor();
  model.when('from elsewhere', say('Said meanwhile.'));
  const client = await daemon.client();
  const { runId = '' } = await client.call('workstream.send', { wsId, message: 'from elsewhere' });
  await client.call('agent.wait', { runId });
  await send(page, 'written offline');
  await page.getByText('Will be sent once reconnected').waitFor();
  model.when('written offline', say('Got it.'));
  await context.setOffline(false); // the browser reports that it is online, so the page connects at once
  await page.locator('.answer', { hasText: 'Got it.' }).waitFor();
  await state(page, 'idle');
  const all = ['before', 'Heard before.', 'from elsewhere', 'Said meanwhile.', 'written offline', 'Got it.'];
  const said = all.map((text, at) => (at % 2 === 0 ? `You: ${text}` : text));
  assert.deepEqual(await blocksOf(page), said);
  await page.reload();
  await page.locator('.answer', { hasText: 'Got it.' }).waitFor();
  assert.deepEqual(await blocksOf(page), said);
});

test('on a phone, the drawer, the options of a workstream and an approval work by touch', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'touched');
  await openDrawer(page);
  await button(page, 'Options of touched').tap();
  await page.getByRole('menuitem', { name: 'Rename' }).tap();
  await page.getByRole('textbox', { name: 'New name' }).fill('renamed by touch');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'renamed by touch' }).tap();
  model.when('touch it', bash('echo touched | tee touched'), say('Touched.'));
  await page.getByRole('textbox', { name: 'Message' }).fill('touch it');
  await button(page, 'Send').tap();
  await page.locator('.approval.pending').waitFor();
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Touched.' }).waitFor();
});
