import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NudgeKind } from '../../agent/message.ts';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { exported } from '../portable/portable-fixture.ts';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { gatewayWithMemories } from './agent-memories-fixture.ts';

type Gateway = Awaited<ReturnType<typeof gatewayWithMemories>>;

/** The reminders that the model has read, by their kinds. */
const nudgesIn = ({ messages }: Pick<ModelRequest, 'messages'>): NudgeKind[] =>
  messages.flatMap((message) => (message.role === 'user' ? (message.environment?.nudge?.kind ?? []) : []));

const latest = ({ puppet }: Gateway): ModelRequest => puppet.requests.at(-1) ?? assert.fail('no request');

async function deny(gateway: Gateway, feedback: string): Promise<void> {
  const wsId = await gateway.main();
  const before = (await gateway.events(wsId)).filter(({ type }) => type === 'approve_request').length;
  gateway.puppet.turn(calling('memory', { action: 'list' }, `call_${before}`));
  const run = await gateway.accept('which memories are there?');
  await gateway.reaches(wsId, 'approve_request', before + 1);
  const { approvals } = await gateway.call('approval.list', {});
  const approvalId = approvals[0]?.approvalId ?? assert.fail('no question');
  await gateway.call('approval.resolve', { approvalId, approved: false, feedback });
  await run?.ended;
}

/** The agent calls and fails so many times in one run. */
async function fail(gateway: Gateway, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1)
    gateway.puppet.turn(calling('memory', { action: 'delete', name: `absent_${n}` }, `call_fail_${n}`));
  await (await gateway.accept('forget the absent one'))?.ended;
}

test('the model is reminded of its memory at each of six moments, and people see why', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.say('hello there'); // nothing is saved, so there is nothing to look for
  await gateway.call('memory.save', { name: 'harbour', content: 'kestrel' });
  await gateway.call('workstream.command', { wsId: await gateway.main(), command: '/new' });
  const first = await gateway.say('build the page');
  await gateway.say('no, use pnpm');
  await gateway.say('thanks, that works');
  await fail(gateway, 1);
  await fail(gateway, 2);
  await gateway.call('policy.create', { name: 'ask', toolPattern: 'memory', action: 'ask' });
  await deny(gateway, '');
  await deny(gateway, 'we keep no memories in this project');
  const all = latest(gateway);
  assert.deepEqual(
    [nudgesIn(first), nudgesIn(all)],
    [['start'], ['start', 'correction', 'completion', 'tool_error', 'denial']],
  );
  assert.deepEqual(all.messages.slice(0, first.messages.length), first.messages);
  const told = (await gateway.events(await gateway.main())).flatMap((event) =>
    event.type === 'info' && event.message.includes('reminded') ? [event.message] : [],
  );
  assert.deepEqual(told, [
    'The model was reminded of its memory: the conversation begins.',
    'The model was reminded of its memory: your message seems to correct it.',
    'The model was reminded of its memory: the task seems to be done.',
    'The model was reminded of its memory: several calls have failed.',
    'The model was reminded of its memory: a call was denied.',
  ]);
});

test('a conversation that goes on another day, or from a file, is reminded of what it may have known', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.say('build the page');
  await gateway.call('memory.save', { name: 'harbour', content: 'kestrel' });
  assert.deepEqual(nudgesIn(await gateway.say('go on with it')), []);
  gateway.clock.jump(24 * 3_600_000);
  assert.deepEqual(nudgesIn(await gateway.say('go on with it')), ['resume']);
  const conversation = await exported(gateway, await gateway.main());
  const { wsId } = await gateway.call('workstream.import', { conversation });
  await gateway.call('workstream.open', { wsId });
  const to = gateway.parts.workstreams.find(wsId, DAEMON) ?? assert.fail('not open');
  assert.deepEqual(nudgesIn(await gateway.say('go on with it', { to })), ['resume']);
});

test('memories that are shown already say where to look, so there is no reminder', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.call('memory.save', { name: 'harbour', content: 'kestrel' });
  assert.deepEqual(nudgesIn(await gateway.say('which harbour?')), []);
});

test('the same reminder comes again only after the cooldown, also across a restart', async () => {
  await using gateway = await gatewayWithMemories();
  const say = async (text: string) => nudgesIn(await gateway.say(text)).length;
  const counts = [await say('build it'), await say('no, use pnpm'), await say('no, with pnpm')];
  await gateway.restart();
  counts.push(await say('wrong again'));
  gateway.clock.jump(299_000);
  counts.push(await say('wrong once more'));
  gateway.clock.jump(1_000);
  counts.push(await say('wrong, really'));
  assert.deepEqual(counts, [0, 1, 1, 1, 1, 2]);
});

test('nothing reminds after untrusted content, in a read-only conversation of saving, or when it is switched off', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.say('build it');
  assert.deepEqual(nudgesIn(await gateway.say('no, use pnpm', { rights: 'write' })), []);
  await gateway.call('workstream.update', { wsId: await gateway.main(), mode: 'read_only' });
  assert.deepEqual(nudgesIn(await gateway.say('no, use pnpm')), []);
  await using off = await gatewayWithMemories({ nudges: false });
  await off.say('build it');
  assert.deepEqual(nudgesIn(await off.say('no, use pnpm')), []);
});

test('reminders are counted by their reason', async () => {
  const metrics = createMetrics();
  metrics.memoryNudge('denial');
  metrics.memoryNudge('denial');
  assert.match(await metrics.text(), /^service_memory_nudges_total\{kind="denial"\} 2$/m);
});

test('a reminder about a message that failed is left out with it, and comes with the next reason', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.say('build it');
  gateway.puppet.turn(new Error('the server answered 400'));
  const failing = await gateway.accept('no, use pnpm');
  assert.equal((await failing?.ended)?.status, 'error');
  assert.deepEqual(nudgesIn(latest(gateway)), ['correction']);
  assert.deepEqual(nudgesIn(await gateway.say('go on with it')), []);
  assert.deepEqual(nudgesIn(await gateway.say('no, use pnpm')), ['correction']);
});
