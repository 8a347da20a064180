import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from '../batch.ts';
import { callOf } from '../run-fixture.ts';
import { BASH, batch, blocked, facts, LOOK, policyOf, rule, WRITE } from './tool-policies-fixture.ts';
import type { UnattendedPolicy } from './unattended-policy.ts';

const BASH_ALLOWED: UnattendedPolicy = { mode: 'allow', tools: ['bash'] };
const POLICIES: UnattendedPolicy[] = [{ mode: 'deny' }, { mode: 'allow', tools: ['look'] }];

for (const [title, options] of [
  ['auto-approve', { autoApprove: true }],
  ['a tool that auto-approve covers', { approvedTools: ['bash'] }],
  ['a job that allows the tool', { policy: BASH_ALLOWED }],
  ['a tool that would not ask', { tools: { bash: {} } }],
  ['nothing', {}],
] as const) {
  test(`a call that a policy denies does not run, and nobody is asked, with ${title}`, async () => {
    const { run, results, asked, items, journal, log } = batch([BASH], { ...options, rules: [rule('bash', 'deny')] });
    await runBatch(run);
    assert.deepEqual([results(), asked()], [[`1 blocked: ${blocked('bash')}`], false]);
    assert.deepEqual(items().map(facts), [
      { needs_approval: false, error: blocked('bash'), ...policyOf('bash', 'deny') },
    ]);
    assert.equal(
      journal.some(({ kind }) => kind === 'tool_started'),
      false,
    );
    assert.deepEqual(log.lines, [['info', 'a tool policy blocked a call']]);
  });
}

test('a denied call of a batch is shown as blocked, and does not run when the others are approved', async () => {
  const { run, results, items, steps, answer } = batch([BASH, WRITE, LOOK], { rules: [rule('overwrite*', 'deny')] });
  const done = runBatch(run);
  await answer();
  await done;
  assert.deepEqual(results(), ['1 done: 1 ran', `2 blocked: ${blocked('write_file')}`, '3 done: 3 ran']);
  assert.deepEqual(items().slice(0, 3).map(facts), [
    { needs_approval: true, error: null },
    { needs_approval: false, error: blocked('write_file'), ...policyOf('overwrite*', 'deny') },
    { needs_approval: false, error: null },
  ]);
  assert.deepEqual(Object.keys(steps[0]?.approval?.digests ?? {}), ['1', '3']);
});

test('a denied batch keeps the words of the policy for the call that a policy blocks', async () => {
  const { run, results, answer } = batch([BASH, WRITE], { rules: [rule('write_file', 'deny')] });
  const done = runBatch(run);
  await answer({ approved: false });
  await done;
  assert.deepEqual(results(), ['1 denied: Denied by user', `2 blocked: ${blocked('write_file')}`]);
});

test('a denied call that is malformed does not tell what the tool found', async () => {
  const { run, results } = batch([BASH], {
    tools: { bash: { refuses: 'No such file: /root/key' } },
    rules: [rule('bash', 'deny')],
  });
  await runBatch(run);
  assert.deepEqual(results(), [`1 blocked: ${blocked('bash')}`]);
});

test('a call that a policy allows runs without a question', async () => {
  const { run, results, asked, items, messages } = batch([BASH], { rules: [rule('b*', 'allow')] });
  await runBatch(run);
  assert.deepEqual([results(), asked()], [['1 done: 1 ran'], false]);
  assert.deepEqual(items().map(facts), [
    {
      ...{ needs_approval: false, error: null, auto_approved: true, auto_approve_reason: 'policy' },
      ...policyOf('b*', 'allow'),
    },
  ]);
  const [last] = messages.slice(-1);
  assert.deepEqual(last?.role === 'tool' && last.decision, {
    ...{ auto: 'policy', verdict: 'run', reason: 'policy' },
    ...{ policy: 'pol_b*', action: 'allow', place: 'everywhere', wanted: true },
  });
});

test('a policy that allows commands does not do so without a sandbox', async () => {
  const { run, asked, answer } = batch([BASH], { rules: [rule('*', 'allow')], notSandboxed: 'bwrap is missing' });
  const done = runBatch(run);
  await answer();
  await done;
  assert.equal(asked(), true);
});

test('a policy that asks makes a call a question that would not be one', async () => {
  for (const [call, options] of [
    [LOOK, {}],
    [BASH, { approvedTools: ['bash'] }],
    [BASH, { policy: BASH_ALLOWED, isWatched: true }],
  ] as const) {
    const { run, items, answer } = batch([call], { ...options, rules: [rule('*', 'ask')] });
    const done = runBatch(run);
    await answer();
    await done;
    assert.deepEqual(items().map(facts), [{ needs_approval: true, error: null, ...policyOf('*', 'ask') }]);
  }
});

test('auto-approve for all tools does not stop at a policy that asks', async () => {
  const { run, asked, items } = batch([LOOK], { autoApprove: true, rules: [rule('*', 'ask')] });
  await runBatch(run);
  assert.equal(asked(), false);
  assert.deepEqual(items().map(facts), [
    {
      ...{ needs_approval: true, error: null, auto_approved: true, auto_approve_reason: 'blanket' },
      ...policyOf('*', 'ask'),
    },
  ]);
});

test('unattended runs follow the same policies', async () => {
  const rules = [rule('bash', 'allow'), rule('look', 'ask')];
  for (const policy of POLICIES) {
    const { run, results, asked } = batch([BASH, LOOK], { rules, policy });
    await runBatch(run);
    const refused = 'Not run: no approver was available, and a tool policy wants a person to decide about look.';
    assert.deepEqual([results(), asked()], [['1 done: 1 ran', `3 blocked: ${refused}`], false]);
  }
});

test('items say why they ran unasked', async () => {
  for (const [options, reason] of [
    [{ autoApprove: true }, 'blanket'],
    [{ approvedTools: ['bash'] }, 'auto_approve_tools'],
    [{ policy: BASH_ALLOWED }, 'job'],
  ] as const) {
    const { run, items } = batch([BASH, LOOK], options);
    await runBatch(run);
    assert.deepEqual(
      items().map(({ auto_approve_reason }) => auto_approve_reason),
      [reason, undefined],
    );
  }
});

test('a deny that comes while a question is open refuses the call when it is approved', async () => {
  const { run, results, change, answer, events } = batch([BASH, WRITE]);
  const done = runBatch(run);
  while (events.length === 0) await new Promise(setImmediate);
  change([rule('bash', 'deny')]);
  await answer();
  await done;
  assert.deepEqual(results(), [`1 blocked: ${blocked('bash')}`, '2 done: 2 ran']);
  const told = events.flatMap((event) => (event.type === 'tool_info' ? event.items : []));
  assert.deepEqual(told.map(facts), [{ needs_approval: false, error: blocked('bash'), ...policyOf('bash', 'deny') }]);
});

test('a deny that comes while the start of a call is stored stops it', async () => {
  const held = batch([BASH], {
    autoApprove: true,
    onRecord: ({ journal = [] }) => {
      if (journal.some(({ kind }) => kind === 'tool_started')) held.change([rule('bash', 'deny')]);
    },
  });
  await runBatch(held.run);
  assert.deepEqual(held.results(), [`1 blocked: ${blocked('bash')}`]);
});

test('a deny that comes during a batch stops the calls of it that have not begun', async () => {
  const calls = Array.from({ length: 6 }, (_, index) => callOf(`${index}`, 'bash', `{"n":${index}}`));
  const held = batch(calls, {
    autoApprove: true,
    tools: {
      bash: {
        needsApproval: true,
        execute: async (_, { id }) => {
          await new Promise(setImmediate);
          held.change([rule('bash', 'deny')]);
          return { output: `${id} ran`, outcome: 'done' };
        },
      },
    },
  });
  await runBatch(held.run);
  assert.deepEqual(
    held.results().map((result) => result.slice(2, 6)),
    ['done', 'done', 'done', 'done', 'bloc', 'bloc'],
  );
});

test('a call that was shown as blocked does not run when its policy goes before the answer', async () => {
  const { run, results, change, answer, events } = batch([BASH, WRITE], { rules: [rule('bash', 'deny')] });
  const done = runBatch(run);
  while (events.length === 0) await new Promise(setImmediate);
  change([]);
  await answer();
  await done;
  assert.deepEqual(results(), [`1 blocked: ${blocked('bash')}`, '2 done: 2 ran']);
});

test('a policy about a tool blocks its calls through another tool, at once or later, and says which tool it means', async () => {
  const tools = {
    use_tool: { needsApproval: true, label: 'mcp__many__tool3', known: () => ({ calls: 'mcp__many__tool3' }) },
    watch: { needsApproval: true, known: () => ({ runsLater: { tool: 'bash', command: 'make status' } }) },
  };
  const calls = [callOf('1', 'use_tool'), callOf('2', 'watch')];
  const rules = [rule('mcp__many__*', 'deny'), rule('bash', 'deny')];
  for (const options of [{}, { autoApprove: true }, { approvedTools: ['use_tool', 'watch'] }]) {
    const { run, results, asked } = batch(calls, { tools, rules, ...options });
    await runBatch(run);
    const expected = [`1 blocked: ${blocked('mcp__many__tool3')}`, `2 blocked: ${blocked('bash')}`];
    assert.deepEqual([results(), asked()], [expected, false]);
  }
  const whole = batch(calls, { tools, rules: [rule('*', 'deny')] });
  await runBatch(whole.run);
  assert.deepEqual(whole.results(), [`1 blocked: ${blocked('mcp__many__tool3')}`, `2 blocked: ${blocked('watch')}`]);
});

test('what is called later asks if a policy wants that, and nothing is allowed because that would be', async () => {
  const tools = {
    watch: { needsApproval: true, known: () => ({ runsLater: { tool: 'bash', command: 'make status' } }) },
  };
  for (const rules of [[rule('bash', 'ask', 1), rule('watch', 'allow')], [rule('bash', 'allow')]]) {
    const { run, results, answer, asked } = batch([callOf('1', 'watch')], { tools, rules });
    const done = runBatch(run);
    await answer({ approved: false });
    await done;
    assert.deepEqual([asked(), results()], [true, ['1 denied: Denied by user']]);
  }
});
