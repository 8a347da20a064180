import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../../../testing/temp-store.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';

const member = (userId: string) => ({
  userId,
  id: userId,
  permissions: new Set(['read', 'write', 'approve'] as const),
});
const match = { program: 'touch' };

test('nobody raises what they allow above what is asked about everywhere, nor lifts what others forbid them', async () => {
  await using gateway = await wholeGateway();
  const ada = member('ada');
  const own = { match, userId: 'ada' };
  const code = async (...call: Parameters<typeof gateway.refusal>) => (await gateway.refusal(...call)).code;
  assert.equal(await code('rule.create', { ...own, action: 'allow', priority: 1 }, ada), 'FORBIDDEN');
  const { ruleId } = await gateway.call('rule.create', { ...own, action: 'allow', priority: -1 }, ada);
  assert.equal(await code('rule.update', { ruleId, priority: 1 }, ada), 'FORBIDDEN');
  const { ruleId: strict } = await gateway.call('rule.create', { ...own, action: 'ask', priority: 1 }, ada);
  assert.equal(await code('rule.update', { ruleId: strict, action: 'allow' }, ada), 'FORBIDDEN');
  await gateway.call('rule.delete', { ruleId: strict }, ada);

  const forbidden = await gateway.call('rule.create', { ...own, action: 'deny' }, { id: 'root' });
  const named = { ruleId: forbidden.ruleId };
  assert.equal(await code('rule.delete', named, ada), 'FORBIDDEN');
  assert.equal(await code('rule.update', { ...named, action: 'allow' }, ada), 'FORBIDDEN');
  assert.equal(await code('rule.update', { ...named, expiresInMs: 1_000 }, ada), 'FORBIDDEN');
  await gateway.call('rule.delete', named, { id: 'root' });
});

test('a rule lasts as long as it was given for, also when the clock is set back', async () => {
  await using gateway = await wholeGateway();
  const make = (expiresInMs: number) => gateway.call('rule.create', { match, action: 'allow', expiresInMs });
  const [short, long] = [await make(60_000), await make(120_000)];
  const held = async () => (await gateway.call('rule.list', {})).rules.map(({ ruleId }) => ruleId);
  assert.deepEqual(new Set(await held()), new Set([short.ruleId, long.ruleId]));
  gateway.clock.jump(-3_600_000);
  await gateway.clock.advance(60_000);
  assert.deepEqual(await held(), [long.ruleId]);
  gateway.clock.jump(2 * 3_600_000);
  assert.deepEqual(await held(), []);
});

test('another change keeps the end of a rule as it is, also when the clock was set back', async () => {
  await using gateway = await wholeGateway();
  gateway.clock.jump(7_200_000);
  const made = await gateway.call('rule.create', { match, action: 'allow', expiresInMs: 60_000 });
  for (const [priority, backMs] of [1, 3_600_000].entries()) {
    gateway.clock.jump(-backMs);
    const changed = await gateway.call('rule.update', { ruleId: made.ruleId, priority });
    assert.equal(changed.expiresAtMs, made.expiresAtMs);
  }
  await gateway.clock.advance(59_999);
  assert.equal((await gateway.call('rule.list', {})).rules.length, 1);
  await gateway.clock.advance(1);
  assert.deepEqual((await gateway.call('rule.list', {})).rules, []);
});

test('a rule given by a path through a link is about the folder to which the link leads, as calls are', async () => {
  using dir = tempDir();
  const real = realpathSync(dir.path);
  mkdirSync(join(real, 'data', 'project'), { recursive: true });
  symlinkSync(join(real, 'data', 'project'), join(real, 'project'));
  await using gateway = await wholeGateway();
  const rule = await gateway.call('rule.create', {
    action: 'deny',
    match: { path: join(real, 'project', 'keys') }, // not created yet
    folder: join(real, 'project'),
  });
  assert.deepEqual(
    [rule.match, rule.folder],
    [{ path: join(real, 'data', 'project', 'keys') }, join(real, 'data', 'project')],
  );
});

test('the rules of a deleted workstream end with it, and others stay', async () => {
  await using gateway = await wholeGateway();
  const [kept, gone] = [await gateway.call('workstream.create', {}), await gateway.call('workstream.create', {})];
  const make = (wsId: string) => gateway.call('rule.create', { match, action: 'deny', wsId });
  const [first] = [await make(kept.wsId), await make(gone.wsId)];
  await gateway.call('workstream.delete', { wsId: gone.wsId });
  const ids = async () => (await gateway.call('rule.list', {})).rules.map(({ ruleId }) => ruleId);
  assert.deepEqual(await ids(), [first.ruleId]);
  await gateway.restart();
  assert.deepEqual(await ids(), [first.ruleId]);
});
