import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addWorkstream, hasValue, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** Opens the page with a connection that is cut in place of an answer, after which the page is back at once, or that is slow. */
async function openCut(t: TestContext) {
  const { context } = await visit(t, daemon);
  const page = await context.newPage();
  /** The method whose next answer is lost. */
  let cut = '';
  /** The method whose calls are held back, and these calls. */
  let slow = '';
  const held: (() => void)[] = [];
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    const server = socket.connectToServer();
    let cutAt: unknown;
    server.onMessage((message) => {
      if (cutAt !== undefined && JSON.parse(String(message)).id === cutAt) void socket.close();
      else socket.send(message);
    });
    socket.onMessage((message) => {
      const { id, method } = JSON.parse(String(message));
      if (method === cut) [cut, cutAt] = ['', id];
      if (method === slow) held.push(() => server.send(message));
      else server.send(message);
    });
  });
  await page.goto(daemon.url);
  await page.locator('.link-open').waitFor();
  const cutsAnswer = (method: string) => {
    cut = method;
  };
  const holds = (method: string) => {
    slow = method;
    return () => {
      slow = '';
      for (const send of held.splice(0)) send();
    };
  };
  return { page, cutsAnswer, holds };
}

test('a workstream whose creation got no answer is not created twice', async (t) => {
  const { page, cutsAnswer } = await openCut(t);
  cutsAnswer('workstream.create');
  await addWorkstream(page, 'only once');
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  assert.equal(workstreams.filter(({ name }) => name.startsWith('only once')).length, 1);
});

test('the text of a waiting message that was taken back without an answer is not lost', async (t) => {
  const { page, cutsAnswer } = await openCut(t);
  await openWorkstream(page, 'taken back');
  const held = stall();
  model.when('hold', [held, say('Held.')]);
  await send(page, 'hold');
  await held.reached;
  await send(page, 'a long thought');
  cutsAnswer('queue.remove');
  await page.getByRole('list', { name: 'Waiting messages' }).getByRole('button', { name: 'Take back' }).click();
  await hasValue(page.getByRole('textbox', { name: 'Message', exact: true }), 'a long thought');
});

test('a conversation that was closed and opened again before the page could ask goes on', async (t) => {
  const { page, holds } = await openCut(t);
  const wsId = await openWorkstream(page, 'reopened');
  const client = await daemon.client();
  const release = holds('workstream.list');
  await client.call('workstream.close', { wsId });
  await client.call('workstream.open', { wsId });
  release();
  model.when('are you there', say('I am here.'));
  await send(page, 'are you there');
  await page.locator('.answer', { hasText: 'I am here.' }).waitFor();
});
