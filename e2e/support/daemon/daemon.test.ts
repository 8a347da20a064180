import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { startDaemon } from './daemon.ts';

test('a conversation is received over an event stream, and after a kill the daemon restarts at the same address', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  const [main] = (await client.call('workstream.list', {})).workstreams;
  await using stream = await daemon.sse(main?.wsId ?? '');
  await daemon.post('/v1/api/send', { ws_id: main?.wsId, message: 'say hello' });
  await stream.until('stream_end');
  const before = { url: daemon.url, pid: daemon.pid };
  await daemon.kill9();
  await stream.ended;
  await daemon.restart();
  assert.equal(daemon.url, before.url);
  assert.notEqual(daemon.pid, before.pid);
  assert.equal((await daemon.get('/health')).status, 200);
});

test('the home of a daemon under test is deleted afterwards', async () => {
  const daemon = await startDaemon();
  await daemon[Symbol.asyncDispose]();
  await assert.rejects(access(daemon.home), { code: 'ENOENT' });
});

test('a failed start of a daemon under test gives the reason', async () => {
  await assert.rejects(
    startDaemon({ args: ['--port', 'none'] }),
    /ended with 2: headgate: --port must be a whole number .* not "none"/,
  );
});

test('a kill of a daemon that has ended by itself is refused, with its exit', async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  await assert.rejects(daemon.kill9(), /^Error: the daemon had already ended with 0; stderr: /);
});
