import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordRun } from '../tools/tool-fixture.ts';
import { fakeServer, openServers } from './servers-fixture.ts';

const inner = (output: string): string => output.split('\n').slice(1, -1).join('\n');

test('a call under way ends well when its server is changed or started again; calls that were prepared before are refused', async (t) => {
  const it = await openServers(t, { steps: fakeServer('slow') });
  await it.ready();
  const prepared = await it.prepare('mcp__steps__greet', { who: 'x' });
  const begin = async () => {
    const begun = Promise.withResolvers<void>();
    const run = { ...recordRun(), onOutput: () => begun.resolve() };
    const ended = it.call('mcp__steps__greet', { who: 'x' }, run);
    await begun.promise;
    return { ended };
  };
  const first = await begin();
  it.live.mcp = { servers: { steps: fakeServer('slow', { autoApprove: true }) }, idleMinutes: 10 };
  await it.ready();
  const second = await begin();
  assert.equal(it.pool.restart('steps'), true);
  await writeFile(join(it.home, 'tool-servers/steps/go'), '');
  const outputs = [await first.ended, await second.ended].map(({ output }) => inner(output));
  assert.deepEqual(outputs, ['Hello, x', 'Hello, x']);
  assert.ok(prepared.kind === 'ready');
  assert.deepEqual(await prepared.execute(recordRun()), {
    output: 'Nothing was called: the tool server steps was changed meanwhile; call the tool again.',
    outcome: 'failed',
  });
  assert.equal(it.pool.restart('nobody'), false);
});
