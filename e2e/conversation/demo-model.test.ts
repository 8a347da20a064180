import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

test('the report of a job is sent with the next message, and the demo model does not take it for an instruction', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  await client.call('wake', { mode: 'next-heartbeat', text: 'Cron (error): it failed' });
  const { code, stdout } = await runHeadgate(['run', '--ws', 'main', 'say hello'], { HEADGATE_HOME: daemon.home });
  assert.deepEqual([code, stdout], [0, 'hello\n\n*(said by the demo model)*\n']);
  assert.deepEqual((await client.call('status', {})).queuedSystemEvents, []);
});
