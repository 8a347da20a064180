import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();

test('logs.tail returns log lines from a cursor on, and says when the daemon was restarted', async () => {
  const client = await daemon.client();
  const first = await client.call('logs.tail', {});
  const messages = first.lines.map((line) => JSON.parse(line).msg);
  assert.deepEqual([first.file, messages.includes('ready'), first.reset], ['stderr', true, undefined]);
  assert.deepEqual((await client.call('logs.tail', { cursor: first.cursor })).lines, []);
  assert.equal(first.lines.join().includes(daemon.token), false);
  await daemon.restart();
  client.retryNow();
  const anew = await client.call('logs.tail', { cursor: first.cursor });
  assert.deepEqual([anew.reset, anew.lines.length > 0], [true, true]);
});
