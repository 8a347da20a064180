import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openDrawer, visit, visitAgain } from '../support/clients/browser.ts';
import { openStranger, pairStranger } from '../support/clients/strangers.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const client = await daemon.client();

async function openNodes(page: Page): Promise<void> {
  await openDrawer(page);
  await entry(page).click();
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
}

/** The button that opens the nodes; its name shows a request. */
const entry = (page: Page) => page.getByRole('button', { name: /^Nodes/ });
const request = (page: Page, text: string) => page.locator('.pairing').filter({ hasText: text });
const row = (page: Page, name: string) =>
  page.locator('.node').filter({ has: page.getByRole('heading', { name, exact: true }) });
const focusIsIn = (page: Page, selector: string) =>
  page.waitForFunction((wanted) => document.activeElement?.closest(wanted) !== null, selector);

test('an empty list says how to pair a machine; a requesting machine is approved by its code, connects, disconnects and is removed', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openNodes(page);
  await page.getByText('No nodes are paired').waitFor();
  await page.getByText(`headgate node run --gateway ${daemon.url.replace(/\/$/, '')} --name`).waitFor();
  await assertAccessible(page, 'no nodes');

  await using node = await startNode(daemon, ['--allow', 'printf *']);
  const code = await node.code();
  const card = request(page, code);
  for (const text of ['box', '127.0.0.1', `${process.platform} ${process.arch}`, 'system.run', 'file.write'])
    await card.getByText(text, { exact: true }).waitFor();
  await card.getByText(/^expires in [45]:\d\d$/).waitFor();
  assert.equal(await entry(page).innerText(), 'Nodes\nasks');
  assert.match(await page.title(), /^\(1\) Nodes/);
  await assertAccessible(page, 'a pairing request');

  await button(page, 'Approve box').click();
  await card.getByText('Approved').waitFor();
  assert.match(await card.innerText(), /^box\s+Approved\s+Dismiss$/);
  await focusIsIn(page, '.pairing-outcome');
  await node.child.printed(/^Connected\.$/m);
  await row(page, 'box').getByText('connected', { exact: true }).waitFor();
  assert.equal(await entry(page).innerText(), 'Nodes');
  await card.getByRole('button', { name: 'Dismiss' }).click();
  await card.waitFor({ state: 'detached' });
  await button(page, 'Details of box').click();
  await row(page, 'box').getByText(node.nodeId()).waitFor();
  await assertAccessible(page, 'a node');

  await button(page, 'Revoke box').click();
  await page.keyboard.press('Enter'); // the focus is on the button that changes nothing
  await focusIsIn(page, '[aria-label="Revoke box"]');
  await page.keyboard.press('Enter');
  await assertAccessible(page, 'the question before a revocation');
  await page.getByRole('alertdialog', { name: 'Revoke box?' }).getByRole('button', { name: 'Revoke' }).click();
  assert.equal((await node.child.exited).code, 1);
  await page.getByText('No nodes are paired').waitFor();
  await focusIsIn(page, '#nodes-title');
});

test('a disconnected node is shown with the time of the disconnect, and as connected after it returns', async (t) => {
  await using node = await startNode(daemon);
  const { page } = await visitAgain(t, daemon);
  await openNodes(page);
  await node.code();
  await button(page, 'Approve box').click();
  await row(page, 'box').getByText('connected', { exact: true }).waitFor();
  t.after(() => client.call('node.token.revoke', { nodeId: node.nodeId() }));
  await node.child.printed(/^Connected\.$/m);
  node.child.kill('SIGKILL');
  await row(page, 'box')
    .getByText(/^last seen .* ago$/)
    .waitFor();
  await node.restart('SIGKILL');
  await row(page, 'box').getByText('connected', { exact: true }).waitFor();
});

test('a changed list of commands needs approval and shows additions and removals; until then the old list applies', async (t) => {
  await using node = await startNode(daemon, ['--allow', 'printf *']);
  const { page } = await visitAgain(t, daemon);
  await openNodes(page);
  await node.code();
  await button(page, 'Approve box').click();
  await node.child.printed(/^Connected\.$/m);
  t.after(() => client.call('node.token.revoke', { nodeId: node.nodeId() }));
  const lent = row(page, 'box').getByRole('list', { name: 'Commands of box' });
  await lent.getByText('system.run').waitFor();

  await node.restart('SIGTERM', []);
  const card = request(page, await node.code());
  await card.getByText('Already paired, as box, and asks again.').waitFor();
  await card.locator('.gone', { hasText: 'no longer: system.run' }).waitFor();
  await assertAccessible(page, 'a node that asks again');
  await lent.getByText('system.run').waitFor();
  await card.getByRole('button', { name: 'Approve box' }).click();
  await lent.getByText('system.run').waitFor({ state: 'detached' });
  await lent.getByText('file.read').waitFor();

  await node.restart('SIGTERM', ['--allow', 'printf *']);
  const wider = request(page, await node.code());
  await wider.locator('.new', { hasText: 'new: system.run' }).waitFor();
  await wider.getByRole('button', { name: 'Reject box' }).click();
  await wider.getByText('Rejected').waitFor();
  await node.child.printed(/^The request was rejected; the commands approved before remain/m);
  assert.equal(await lent.getByText('system.run').count(), 0);
});

test('every open page marks a request at once, in any view, and shows decisions made on another page', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const { page: other } = await visit(t, daemon);
  await openNodes(other);
  const node = await openStranger(t, daemon, 'seen-by-two');
  await node.ask({ displayName: 'seen by two' });
  await entry(page).getByText('asks').waitFor();
  assert.match(await page.title(), /^\(\d+\) /);
  await openNodes(page);
  await button(page, 'Reject seen by two').click();
  await request(other, 'seen by two').getByText('Rejected').waitFor();
  for (const each of [page, other]) {
    await entry(each).getByText('asks').waitFor({ state: 'detached' });
    assert.equal(await entry(each).innerText(), 'Nodes');
  }
});

test('the request of a machine that disconnects is withdrawn; its card stays in place, so that nobody presses the wrong button', async (t) => {
  const { page } = await visit(t, daemon);
  await openNodes(page);
  const [first, second] = [await openStranger(t, daemon, 'first'), await openStranger(t, daemon, 'second')];
  await first.ask({ displayName: 'first' });
  await second.ask({ displayName: 'second' });
  const place = () => button(page, 'Approve second').boundingBox();
  await button(page, 'Approve second').waitFor();
  const before = await place();
  first.close();
  await request(page, 'first').getByText('No longer waiting').waitFor();
  assert.deepEqual(await place(), before);
  assert.match(await request(page, 'first').innerText(), /^first\s+No longer waiting.*\s+Dismiss$/);
  assert.equal(await entry(page).innerText(), 'Nodes\nasks');
  await page.keyboard.press('Escape');
  await openNodes(page);
  await button(page, 'Approve second').waitFor();
  assert.equal(await request(page, 'first').count(), 0);
});

test('renaming a node changes it on every page, and an error is shown at the field', async (t) => {
  await pairStranger(t, daemon, { nodeId: 'renamed', displayName: 'cellar' });
  const { page } = await visitAgain(t, daemon);
  await openNodes(page);
  await button(page, 'Rename cellar').click();
  const field = page.getByRole('textbox', { name: 'New name' });
  await field.fill('');
  await field.press('Enter');
  await page.getByText('A node needs a name.').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await field.fill('attic');
  await field.press('Enter');
  await row(page, 'attic').waitFor();
  await focusIsIn(page, '[aria-label="Rename attic"]');
  const { displayName } = await client.call('node.describe', { nodeId: 'renamed' });
  assert.equal(displayName, 'attic');
});

test('the description of a machine is shown as plain text: no markup, no hidden or reordered characters, and shortened', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openNodes(page);
  const node = await openStranger(t, daemon, 'liar');
  const endless = 'x'.repeat(100);
  await node.ask({
    displayName: `<b>nice</b>\u200bevil\u200f\u00ad${endless}`,
    platform: '<img src=x onerror=alert(1)>',
    version: endless,
    commands: [`run.${endless}`, '\u200bhidden'],
  });
  const card = request(page, '<b>nice</b>');
  const shown = `<b>nice</b>\\u200bevil\\u200f\\u00ad${endless}`;
  const name = card.getByRole('heading', { level: 2 }).locator('.claimed');
  assert.deepEqual([await name.innerText(), await name.getAttribute('title')], [shown, shown]);
  await card.getByText('\\u200bhidden').waitFor();
  await card.getByText('<img src=x onerror=alert(1)>').waitFor();
  assert.equal(await card.locator('b, img').count(), 0);
  const isCut = await name.evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.equal(isCut, true);
  assert.equal(await page.locator('.panel-body').evaluate((body) => body.scrollWidth - body.clientWidth), 0);
  await assertAccessible(page, 'a request of a liar');
});

test('with read-only access the page shows the nodes, no requests, and no controls that would be refused', async (t) => {
  await pairStranger(t, daemon, { nodeId: 'looked-at', displayName: 'looked at', commands: ['system.info'] });
  const asking = await openStranger(t, daemon, 'unseen');
  await asking.ask({ displayName: 'unseen' });
  const { token } = await client.call('token.create', { name: 'node reader', scope: 'read' });
  const { page, context } = await visit(t, daemon, { loggedIn: false });
  await context.request.post(new URL('/v1/api/auth/login', daemon.url).href, { data: { token } });
  await page.reload();
  await openNodes(page);
  await row(page, 'looked at').getByText('system.info').waitFor();
  assert.deepEqual(await page.locator('.panel-body').getByRole('button').allInnerTexts(), ['Details']);
  assert.deepEqual([await page.locator('.pairing').count(), await entry(page).innerText()], [0, 'Nodes']);
  await page.getByText('Pair another machine').click();
  await page.getByText('pairing requires the approve scope').waitFor();
});

test('after a restart the daemon knows its nodes, and the page updates automatically', async (t) => {
  await pairStranger(t, daemon, { nodeId: 'survivor', displayName: 'survivor' });
  const asking = await openStranger(t, daemon, 'lost');
  await asking.ask({ displayName: 'lost' });
  const { page } = await visit(t, daemon, { losesDaemon: true });
  await openNodes(page);
  await button(page, 'Approve lost').waitFor();
  asking.close();
  await daemon.restart();
  await request(page, 'lost').getByText('No longer waiting').waitFor();
  await row(page, 'survivor').waitFor();
  await page.locator('.link-open').waitFor();
  const late = await openStranger(t, daemon, 'late');
  await late.ask({ displayName: 'late' });
  await button(page, 'Reject late').click();
  await request(page, 'late').getByText('Rejected').waitFor();
});

test('the nodes view can be opened, used and closed with the keyboard', async (t) => {
  const { page } = await visit(t, daemon);
  await page.locator('.composer').waitFor();
  const node = await openStranger(t, daemon, 'by-keys');
  await node.ask({ displayName: 'by keys' });
  await page.keyboard.press('Alt+o');
  await focusIsIn(page, '#nodes-title');
  assert.match(await page.title(), /Nodes · Headgate$/);
  await page.locator('[aria-label="Approve by keys"]:enabled').waitFor();
  await page.keyboard.press('Tab'); // the way back
  await page.keyboard.press('Tab');
  await focusIsIn(page, '[aria-label="Approve by keys"]');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await request(page, 'by keys').getByText('Rejected').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await request(page, 'by keys').waitFor({ state: 'detached' });
  await page.keyboard.press('Alt+m');
  await focusIsIn(page, '#message');
});

test('on a phone a request is marked, every control is large enough for a thumb, and nothing is wider than the screen', async (t) => {
  const long = 'a name that is much too long for the width of a small telephone, and goes on';
  await pairStranger(t, daemon, {
    nodeId: 'pocket',
    displayName: long,
    commands: Array.from({ length: 40 }, (_, at) => `tool.use-${at}`),
  });
  const { page } = await visitAgain(t, daemon, { phone: true });
  const node = await openStranger(t, daemon, 'pocket');
  await node.ask({ displayName: long, commands: ['x'.repeat(120), 'system.run'] });
  await page.getByRole('button', { name: 'Workstreams; a machine asks to be paired' }).waitFor();
  await openNodes(page);
  await page.locator('.pairing').waitFor();
  await row(page, long).getByText('and 28 more').tap();
  await row(page, long).getByText('tool.use-39').waitFor();
  await button(page, `Details of ${long}`).tap();
  const overflow = () =>
    page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return [scrollWidth - innerWidth, scrollHeight - innerHeight];
    });
  const tooSmall = () =>
    page
      .locator('button:visible, summary:visible')
      .evaluateAll(
        (all) =>
          all.map((each) => each.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 43.5)
            .length,
      );
  assert.deepEqual([await overflow(), await tooSmall()], [[0, 0], 0]);
  await assertAccessible(page, 'nodes on a phone');
  await button(page, `Revoke ${long}`).tap();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).tap();
  await row(page, long).waitFor({ state: 'detached' });
  assert.deepEqual(await overflow(), [0, 0]);
});
