import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordRun } from '../tools/tool-fixture.ts';
import { fakeServer, inner, openServers } from './servers-fixture.ts';

test('a change of the configuration ends what is no longer configured, and starts what is new', async (t) => {
  const it = await openServers(t, { one: fakeServer('well'), two: fakeServer('well') });
  await it.ready();
  it.live.mcp = {
    servers: { two: fakeServer('well', { autoApprove: true }), three: fakeServer('well') },
    idleMinutes: 10,
  };
  assert.deepEqual(
    (await it.ready()).map(({ name }) => name),
    ['mcp__three__greet', 'mcp__two__greet'],
  );
  const two = await it.prepare('mcp__two__greet');
  assert.equal(two.kind === 'ready' && two.needsApproval, false);
  assert.deepEqual(
    it.pool.list().map(({ name, state }) => [name, state]),
    [
      ['three', 'connected'],
      ['two', 'idle'],
    ],
  );
});

test('a server whose tools could not be read is asked again when a conversation begins', async (t) => {
  const it = await openServers(t, { later: fakeServer('later') });
  assert.deepEqual(await it.ready(), []);
  await writeFile(join(it.home, 'tool-servers/later/ready'), '');
  assert.deepEqual(
    (await it.ready()).map(({ name }) => name),
    ['mcp__later__greet'],
  );
});

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
