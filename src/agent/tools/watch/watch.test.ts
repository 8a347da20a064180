import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Watch } from '../../../../protocol/events/watch.ts';
import type { NewWatch } from '../../watches/watch-book.ts';
import type { BashArguments } from '../shell/bash-arguments.ts';
import type { Prepared } from '../tool.ts';
import { createToolFixture, execute, recordRun, toShown } from '../tool-fixture.ts';
import { createWatchTool } from './watch.ts';

const ACTIVE: Watch = {
  ...{ watch_id: 'wat_1', ws_id: 'ws-1', node_id: 'here', name: 'build', command: 'make status', interval_secs: 90 },
  ...{ stop_on: '', max_polls: 7, poll_count: 2, missed_polls: 0, last_output: 'secret', last_exit_code: 0 },
  ...{ last_poll: '', next_poll: '', active: 1, created: '', created_by: 'ada', updated: '' },
};

/** The tool over a book that notes what is created. `isFull`: five are active. */
function openTool({ isFull = false } = {}) {
  const created: NewWatch[] = [];
  const tool = createWatchTool({
    book: {
      async create(watch) {
        if (isFull) return undefined;
        created.push(watch);
        return { ...ACTIVE, interval_secs: watch.intervalSecs, max_polls: watch.maxPolls };
      },
      active: async () => (isFull ? [ACTIVE] : []),
      cancel: async (_wsId, name) => (name === 'build' ? ACTIVE : undefined),
    },
    bash: {
      prepare: async ({ command }: BashArguments): Promise<Prepared> =>
        command === 'refused'
          ? { kind: 'refused', subject: command, reason: 'Commands require a sandbox here.' }
          : {
              kind: 'ready',
              subject: command,
              preview: command,
              approvalLabel: 'bash',
              needsApproval: true,
              reading: { commands: [], effects: [], gaps: [] },
              bindTo: 'sandbox:bwrap',
              execute: async () => assert.fail('creating a watch runs nothing'),
            },
    },
  });
  const prepare = async (args: object) => {
    await using it = await createToolFixture();
    return tool.prepare(tool.parameters.parse(args), it.context());
  };
  return { created, prepare };
}

test('the card shows the command, the interval, how often and until when, and creating it is bound to the sandbox', async () => {
  const { created, prepare } = openTool();
  const prepared = await prepare({
    action: 'create',
    command: 'make status',
    interval: '90',
    max_polls: 7,
    stop_on: 'exit_code == 0',
  });
  assert.deepEqual(toShown(prepared), {
    kind: 'ready',
    subject: 'every 1 min 30 s: make status',
    preview: 'make status\n\nEvery 1 min 30 s, at most 7 times\nUntil: exit_code == 0',
    approvalLabel: 'watch',
    needsApproval: true,
    runsLater: { tool: 'bash', command: 'make status' },
    effects: { list: [] },
    bindTo: 'sandbox:bwrap',
  });
  const grants = { protectedPaths: [], hosts: [], allowed: { by: 'person', reason: 'tool' } } as const;
  const { output, outcome } = await execute(prepared, { ...recordRun(), grants });
  assert.equal(outcome, 'done');
  assert.match(output, /^Watch wat_1 is active: every 1 min 30 s, at most 7 polls\./);
  assert.deepEqual(created, [
    {
      wsId: 'ws-1',
      name: 'make status',
      command: 'make status',
      intervalSecs: 90,
      stopOn: 'exit_code == 0',
      maxPolls: 7,
      allowed: grants.allowed,
    },
  ]);
});

test('without more, it polls every five minutes, a hundred times, until the output changes', async () => {
  const { created, prepare } = openTool();
  const prepared = await prepare({ action: 'create', command: 'date', stop_on: ' ' });
  assert.match(
    prepared.kind === 'ready' ? prepared.preview : '',
    /Every 5 min, at most 100 times\nUntil: the output changes$/,
  );
  await execute(prepared);
  assert.deepEqual(
    created.map(({ intervalSecs, maxPolls, stopOn }) => [intervalSecs, maxPolls, stopOn]),
    [[300, 100, undefined]],
  );
});

test('bad intervals, conditions and commands are refused before anybody is asked', async () => {
  const { prepare } = openTool();
  const why = async (args: object) => {
    const prepared = await prepare({ action: 'create', command: 'date', ...args });
    return prepared.kind === 'refused' ? prepared.reason : 'ready';
  };
  assert.equal(await why({ interval: '5s' }), 'Invalid interval "5s". Use 10s to 24h, such as 30s, 5m or 2h30m.');
  assert.equal(
    await why({ stop_on: 'output =' }),
    'Invalid stop_on: Unexpected "="; use == to compare (at character 8).',
  );
  assert.equal(await why({ command: ' ' }), 'create needs a command.');
  assert.equal(await why({ command: 'refused' }), 'Commands require a sandbox here.');
  assert.equal(await why({ action: 'cancel' }), 'cancel needs the name or the id of the watch, as name.');
});

test('lists without output, cancels by name, and says when there are too many', async () => {
  const { prepare } = openTool({ isFull: true });
  const said = async (args: object) => {
    const prepared = await prepare(args);
    const asked = prepared.kind === 'ready' && prepared.needsApproval;
    const { output, outcome } = await execute(prepared);
    return [asked, outcome, output];
  };
  assert.deepEqual(await said({ action: 'list' }), [
    false,
    'done',
    'wat_1 "build": make status (every 1 min 30 s, poll 2 of 7)',
  ]);
  assert.deepEqual(await said({ action: 'cancel', name: 'build' }), [
    false,
    'done',
    'Watch wat_1 is cancelled after 2 polls.',
  ]);
  assert.deepEqual((await said({ action: 'cancel', name: 'other' })).slice(0, 2), [false, 'failed']);
  assert.deepEqual((await said({ action: 'create', command: 'date' })).slice(0, 2), [true, 'failed']);
});
