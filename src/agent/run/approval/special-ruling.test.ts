import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand } from '../../permissions/read-command.ts';
import type { RuleSource } from '../../permissions/rules/rule-source.ts';
import type { CallGrants } from '../../tools/tool.ts';
import { runBatch } from '../batch.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import { callOf, type FixtureOptions, runFixture } from '../run-fixture.ts';

interface Asked {
  command: string;
  /** An earlier attempt could not reach this host. */
  unreached?: string;
  sandboxOff?: string;
}

interface Case extends Asked, Pick<FixtureOptions, 'autoApprove' | 'approvedTools' | 'policy' | 'callRules' | 'mode'> {
  isTainted?: boolean;
}

/** Runs one command until it has run, or a person is asked; they approve. */
async function runOne({ command, unreached, sandboxOff, isTainted, ...options }: Case) {
  const grants: (CallGrants | undefined)[] = [];
  const call = callOf('one', 'bash');
  const { run, events, answer } = runFixture({
    ...options,
    messages: [{ role: 'user', content: 'do it', ...(!isTainted && { trusted: true as const }) }],
    tools: { bash: bashTool({ command, unreached, sandboxOff } as Asked, grants) },
    journal: [{ kind: 'started' }, { kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls: [call] }],
  });
  const done = runBatch(run);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  const question = events.find((event) => event.type === 'approve_request');
  if (question) await answer({ approved: true });
  await done;
  const result = events.find((event) => event.type === 'tool_result');
  const items = events.flatMap((event) =>
    event.type === 'approve_request' || event.type === 'tool_info' ? event.items : [],
  );
  return { wasAsked: question !== undefined, item: items[0], result, grants: grants[0] };
}

function bashTool({ command, unreached, sandboxOff }: Asked, grants: (CallGrants | undefined)[]): FakeTool {
  const read = readCommand(command, { folder: '/work' });
  const effect = { kind: 'network', target: unreached ?? '', certain: true, isUnreached: true } as const;
  const reading = unreached === undefined ? read : { ...read, effects: [...read.effects, effect] };
  return {
    needsApproval: true,
    known: () => ({ reading, matched: { command }, ...(sandboxOff !== undefined && { sandboxOff }) }),
    execute(run) {
      grants.push(run.grants);
      return { output: '', outcome: 'done' };
    },
  };
}

const allow = (match: RuleSource['match']): RuleSource => ({
  ...{ ruleId: 'r', source: 'rule', action: 'allow', match, place: 'workstream', priority: 0, createdAtMs: 0 },
});

const HOOK = 'touch .git/hooks/post-commit';

test('a command that changes a protected path asks, whatever else allows it, and then gets exactly this path', async () => {
  const wide: Omit<Case, 'command'>[] = [
    ...[{}, { mode: 'edits' as const }, { mode: 'auto' as const }, { approvedTools: ['bash'] }],
    ...[{ program: 'touch' }, { tool: 'bash' }, { path: '/work' }].map((match) => ({ callRules: [allow(match)] })),
  ];
  for (const options of wide) {
    const { wasAsked, item, grants } = await runOne({ command: HOOK, ...options });
    assert.deepEqual(
      [wasAsked, item?.ruling?.reason, item?.ruling?.protected_paths, grants?.protectedPaths],
      [true, 'protected', ['/work/.git/hooks'], ['/work/.git/hooks']],
      JSON.stringify(options),
    );
  }
});

test('the exact command, its path and the mode full need no question, and a harmless command gets nothing', async () => {
  for (const options of [
    ...[{ command: HOOK }, { path: '/work/.git/hooks' }].map((match) => ({ callRules: [allow(match)] })),
    { autoApprove: true },
  ]) {
    const { wasAsked, grants } = await runOne({ command: HOOK, ...options });
    assert.deepEqual([wasAsked, grants?.protectedPaths], [false, ['/work/.git/hooks']], JSON.stringify(options));
  }
  assert.deepEqual((await runOne({ command: 'ls .git/hooks' })).grants?.protectedPaths, []);
});

test('the exact command and its path are suggested for a protected path, and not its program', async () => {
  const { item } = await runOne({ command: HOOK });
  assert.deepEqual(
    item?.rules?.map(({ match }) => match),
    [{ command: HOOK }, { path: '/work/.git/hooks', access: 'write' }],
  );
});

test('unattended, a command that changes a protected path is blocked, and the model reads why', async () => {
  const { result } = await runOne({ command: HOOK, policy: { mode: 'allow', tools: ['bash'] } });
  assert.equal(result?.outcome, 'blocked');
  assert.match(result?.output ?? '', /programs outside the sandbox run or obey/);
});

test('unattended runs follow the permission rules: one that denies stands above the job, one that allows is enough', async () => {
  const command = 'touch notes.txt';
  const deny: RuleSource = { ...allow({ program: 'touch' }), action: 'deny' };
  const outcomes = [
    { policy: { mode: 'deny' as const } },
    { policy: { mode: 'deny' as const }, callRules: [allow({ command })] },
    { policy: { mode: 'allow' as const, tools: ['bash'] } },
    { policy: { mode: 'allow' as const, tools: ['bash'] }, callRules: [deny] },
  ].map(async (options) => {
    const { wasAsked, result, item } = await runOne({ command, ...options });
    return [wasAsked, result?.outcome, item?.ruling?.reason];
  });
  assert.deepEqual(await Promise.all(outcomes), [
    [false, 'blocked', 'tool'],
    [false, 'done', 'rule'],
    [false, 'done', 'job'],
    [false, 'blocked', 'rule'],
  ]);
});

test('a host that was not reached asks, whatever allows the command, with a rule for the host; then it is reached', async () => {
  const command = 'make';
  const unreached = 'api.example.org';
  for (const options of [
    ...[{}, { mode: 'edits' as const }, { mode: 'auto' as const }, { approvedTools: ['bash'] }],
    ...[{ command }, { program: 'make' }].map((match) => ({ callRules: [allow(match)] })),
  ]) {
    const { wasAsked, item, grants } = await runOne({ command, unreached, ...options });
    assert.deepEqual(
      [wasAsked, item?.ruling?.reason, item?.ruling?.hosts, grants?.hosts],
      [true, 'hosts', [unreached], [unreached]],
      JSON.stringify(options),
    );
    assert.ok(item?.rules?.some(({ kind, match }) => kind === 'host' && match.host === unreached));
    assert.ok(item?.effects?.list.some(({ kind, target }) => kind === 'network' && target === unreached));
  }
  const { wasAsked } = await runOne({ command, unreached, mode: 'edits', callRules: [allow({ host: unreached })] });
  assert.equal(wasAsked, false);
});

test('outside the sandbox nothing but the mode full runs unasked, and what is read only is blocked', async () => {
  const command = 'ls';
  const sandboxOff = 'it needs docker';
  for (const options of [
    ...[{}, { mode: 'edits' as const }, { mode: 'auto' as const }, { approvedTools: ['bash'] }],
    ...[{ callRules: [allow({ command })] }, { isTainted: true, mode: 'auto' as const }],
  ]) {
    const { wasAsked, item, result } = await runOne({ command, sandboxOff, ...options });
    assert.deepEqual(
      [wasAsked, item?.ruling?.reason, item?.sandbox_off, item?.rules],
      [true, 'not_sandboxed', sandboxOff, []],
      JSON.stringify(options),
    );
    assert.match(result?.not_sandboxed ?? '', /it needs docker/);
  }
  assert.equal((await runOne({ command, sandboxOff, autoApprove: true })).wasAsked, false);
  assert.deepEqual((await runOne({ command, sandboxOff, mode: 'read_only' })).item?.ruling, {
    ...{ verdict: 'block', reason: 'mode' },
  });
  const job = await runOne({ command, sandboxOff, policy: { mode: 'allow', tools: ['bash'] } });
  assert.deepEqual([job.wasAsked, job.result?.outcome], [false, 'blocked']);
  const denied = [{ ...allow({ program: 'ls' }), action: 'deny' as const }];
  const blocked = await runOne({ command, sandboxOff, autoApprove: true, callRules: denied });
  assert.deepEqual([blocked.wasAsked, blocked.result?.outcome], [false, 'blocked']);
});

test('folders that were added can be changed only by calls that somebody allowed, not by those of a mode', async () => {
  const written = async (options: Omit<Case, 'command'>) =>
    (await runOne({ command: 'touch x', ...options })).grants?.writesAdded;
  assert.deepEqual(
    [await written({}), await written({ mode: 'edits' }), await written({ approvedTools: ['bash'] })],
    [true, false, true],
  );
  assert.equal((await runOne({ command: 'ls' })).grants?.writesAdded, false);
});

test('a file tool that changes a protected path asks, too, unless a rule names the path', async () => {
  const asks = async (match: RuleSource['match']) => {
    const call = callOf('one', 'write_file');
    const effect = { kind: 'write', target: '.envrc', path: '/work/.envrc', certain: true } as const;
    const { run, events, answer } = runFixture({
      messages: [{ role: 'user', content: 'do it', trusted: true }],
      tools: {
        write_file: { needsApproval: true, known: () => ({ reading: { commands: [], effects: [effect], gaps: [] } }) },
      },
      callRules: [allow(match)],
      journal: [{ kind: 'started' }, { kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls: [call] }],
    });
    const done = runBatch(run);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    const question = events.find((event) => event.type === 'approve_request');
    if (question) await answer({ approved: true });
    await done;
    return question?.items[0]?.ruling?.reason;
  };
  assert.deepEqual([await asks({ tool: 'write_file' }), await asks({ path: '/work' })], ['protected', 'protected']);
  assert.equal(await asks({ path: '/work/.envrc', access: 'write' }), undefined);
});
