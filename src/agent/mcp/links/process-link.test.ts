import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { StopReason } from '../../stop-reason.ts';
import { ProcessLink, type StartProgram } from './process-link.ts';

test('a server that does not read what it is sent is ended before the memory is full', async () => {
  const unread = new Writable({ write: () => undefined });
  const start: StartProgram = async ({ signal }, { onInput }) => {
    onInput(unread);
    await once(signal, 'abort');
    return { kind: 'stopped', reason: new StopReason('failure', 'x') };
  };
  const link = new ProcessLink(start, { clock: fakeClock(), clean: (text) => text });
  await link.start();
  const message = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'x'.repeat(1024 * 1024) } };
  let sent = 0;
  await assert.rejects(async () => {
    for (; sent < 100; sent += 1) await link.send(message);
  }, /the server has ended/);
  assert.ok(sent >= 64 && sent < 66, `${sent} MiB`);
  assert.equal(await link.ended, 'does not read its standard input');
});
