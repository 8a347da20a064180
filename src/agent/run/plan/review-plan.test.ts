import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopReason } from '../../stop-reason.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import type { JournalEntry } from '../journal.ts';
import { runToEnd } from '../run.ts';
import { answerOf, approvedBatch, callOf, type FixtureOptions, runFixture, type Turn, until } from '../run-fixture.ts';

const PLAN = `## Goal
Move the port into the configuration, so that two servers can run on one machine.
## Current State
server.ts line 3 has the number 8080.
## Plan
1. Add **port** to config.ts
   - with a default
2. Read it in server.ts
3. Run \`npm test\`
## Risks
Scripts that know the number.`;

const STEPS = ['Add port to config.ts', 'Read it in server.ts', 'Run `npm test`'].map((text) => ({
  text,
  status: 'pending',
}));

const planAgent: FakeTool = {
  readOnly: true,
  safeToRepeat: true,
  execute: async ({ reviewPlan }) =>
    (await reviewPlan?.('Move the port into the configuration')) ?? { output: 'no run', outcome: 'failed' },
};
const CALL = callOf('call_1', 'plan_agent', '{"goal":"x"}');
const ran: string[] = [];
const reads: FakeTool = {
  readOnly: true,
  execute: (_, { id }) => {
    ran.push(id);
    return { output: 'port 8080', outcome: 'done' };
  },
};
const writes: FakeTool = { ...reads, readOnly: false };

const planning = (turns: Turn[], options: FixtureOptions = {}) =>
  runFixture({
    turns: [answerOf('', [CALL]), ...turns],
    tools: { plan_agent: planAgent, read_file: reads, write_file: writes },
    ...options,
  });

type Planning = ReturnType<typeof runFixture>;
const resultIn = ({ messages }: Planning) => messages.find((message) => message.role === 'tool');
const asked = ({ events }: Planning) =>
  events.flatMap((event) => (event.type === 'approve_request' ? [event.items[0]?.plan] : []));

test('a planner explores in its own context, only reading, and its approved plan becomes the checklist', async () => {
  const it = planning([
    answerOf('', [callOf('r1', 'read_file'), callOf('w1', 'write_file'), callOf('p1', 'plan_agent')]),
    answerOf(PLAN),
    answerOf('All done'),
  ]);
  ran.length = 0;
  const ending = runToEnd(it.run);
  await it.answer();
  assert.equal(await ending, 'ended');
  assert.deepEqual(ran, ['r1']);
  assert.deepEqual(asked(it), [{ content: PLAN, round: 1, revisions_left: 5 }]);
  const result = resultIn(it);
  assert.deepEqual([result?.outcome, result?.todo], ['done', STEPS]);
  assert.match(String(result?.output), /^The person approved this plan\..*\n.*3 steps.*\n\n## Goal/s);
  assert.deepEqual(
    it.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  );
  const explored = it.requests[2]?.messages.map((message) =>
    message.role === 'tool' ? message.outcome : message.role,
  );
  assert.deepEqual(explored, ['user', 'assistant', 'done', 'blocked', 'blocked']);
});

test('the states of a run with a plan are running, attention and running again', async () => {
  const it = planning([answerOf(PLAN), answerOf('done')]);
  const ending = runToEnd(it.run);
  await until(() => it.steps.some(({ approval }) => approval?.kind === 'plan'));
  const states = it.events.flatMap((event) => (event.type === 'ws_state' ? event.state : []));
  assert.deepEqual(states.slice(-2), ['running', 'attention']);
  await it.answer();
  await ending;
});

test('words ask for another plan, five times; after that they reject it', async () => {
  const it = planning([...Array.from({ length: 6 }, () => answerOf(PLAN)), answerOf('done')]);
  const ending = runToEnd(it.run);
  for (let round = 1; round <= 6; round += 1)
    await it.answer({ approved: false, feedback: `change ${round}` }, `apr_${round}`);
  assert.equal(await ending, 'ended');
  assert.deepEqual(
    asked(it).map((plan) => [plan?.round, plan?.revisions_left]),
    [1, 2, 3, 4, 5, 6].map((round) => [round, 6 - round]),
  );
  const told = it.requests[6]?.messages.flatMap((message) => (message.role === 'user' ? message.content : []));
  assert.match(String(told?.at(-1)), /The person wants a different plan and says:\nchange 5/);
  assert.match(String(resultIn(it)?.output), /^The person rejected the plan: change 6\n/);
  assert.equal(resultIn(it)?.outcome, 'denied');
});

test('n, no, reject and a denial without words reject a plan', async () => {
  for (const feedback of ['n', 'NO', ' reject ', '']) {
    const it = planning([answerOf(PLAN), answerOf('done')]);
    const ending = runToEnd(it.run);
    await it.answer({ approved: false, feedback });
    await ending;
    assert.deepEqual([resultIn(it)?.outcome, asked(it).length], ['denied', 1]);
  }
});

test('a deadline rejects a plan, whatever its words are', async () => {
  const it = planning([answerOf(PLAN), answerOf('done')]);
  const ending = runToEnd(it.run);
  await it.answer({ approved: false, feedback: 'Approval timed out after 1 hour', by: { kind: 'timeout' } });
  await ending;
  assert.deepEqual(
    [resultIn(it)?.outcome, resultIn(it)?.output, asked(it).length],
    ['expired', 'The plan was rejected: Approval timed out after 1 hour', 1],
  );
});

test('an incomplete plan is asked for once more, and a planner that writes none fails', async () => {
  const it = planning([answerOf('Just do it.'), answerOf(PLAN), answerOf('done')]);
  const ending = runToEnd(it.run);
  await it.answer();
  await ending;
  const again = it.requests[2]?.messages.at(-1);
  assert.match(String(again?.role === 'user' && again.content), /^It has 11 characters; a plan needs at least 100\. /);
  const none = planning([answerOf('Just do it.'), answerOf('Yes.'), answerOf('done')]);
  await runToEnd(none.run);
  assert.deepEqual(
    [resultIn(none)?.outcome, resultIn(none)?.output, asked(none)],
    ['failed', 'There is no plan. The planner wrote no plan, although it was asked twice.', []],
  );
});

test('where a policy answers for people, there is no plan, also with auto-approve', async () => {
  for (const autoApprove of [false, true]) {
    const it = planning([answerOf('done')], { policy: { mode: 'deny' }, autoApprove });
    await runToEnd(it.run);
    assert.deepEqual([resultIn(it)?.outcome, it.requests.length], ['blocked', 2]);
  }
});

test('with auto-approve, the plan still waits for a person', async () => {
  const it = planning([answerOf(PLAN), answerOf('done')], { autoApprove: true });
  const ending = runToEnd(it.run);
  await it.answer();
  await ending;
  assert.equal(asked(it).length, 1);
});

test('a turn has one plan', async () => {
  const two = runFixture({
    turns: [
      answerOf('', [CALL, { ...CALL, id: 'call_2', arguments: '{"goal":"y"}' }]),
      answerOf(PLAN),
      answerOf('done'),
    ],
    tools: { plan_agent: planAgent },
  });
  const ending = runToEnd(two.run);
  await two.answer();
  await ending;
  const outcomes = two.messages.flatMap((message) =>
    message.role === 'tool' ? [[message.callId, message.outcome]] : [],
  );
  assert.deepEqual(new Map(outcomes.map(([id, outcome]) => [id, outcome])).get('call_2'), 'failed');
  assert.equal(asked(two).length, 1);
});

const STARTED: JournalEntry[] = [
  ...approvedBatch([CALL]),
  { kind: 'tool_started', callId: CALL.id, safeToRepeat: true },
];
const PUT: JournalEntry = {
  kind: 'approval_asked',
  approvalId: 'apr_7',
  question: 'plan',
  digests: { [CALL.id]: 'd' },
  plan: { callId: CALL.id, round: 2, content: PLAN },
};
const afterRestart = (journal: JournalEntry[], turns: Turn[], calls = [CALL]) =>
  runFixture({
    journal,
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: '', toolCalls: calls },
    ],
    tools: { plan_agent: planAgent, write_file: writes },
    turns,
  });

test('after a restart, a plan that waits is not made again, and keeps its id', async () => {
  const it = afterRestart([...STARTED, PUT], [answerOf('done')]);
  const ending = runToEnd(it.run);
  await it.answer({}, 'apr_7');
  await ending;
  assert.deepEqual([resultIn(it)?.outcome, asked(it), it.requests.length], ['done', [], 1]);
});

test('after a restart, a revision begins anew from the plan and the words about it', async () => {
  const decision = {
    approved: false,
    feedback: 'smaller',
    always: false,
    by: { kind: 'principal', id: 'someone' },
  } as const;
  const it = afterRestart(
    [...STARTED, PUT, { kind: 'approval_decided', approvalId: 'apr_7', decision }],
    [answerOf(PLAN), answerOf('done')],
  );
  const ending = runToEnd(it.run);
  await it.answer();
  await ending;
  assert.deepEqual(asked(it), [{ content: PLAN, round: 3, revisions_left: 3 }]);
  const [question] = it.requests[0]?.messages ?? [];
  assert.match(
    String(question?.role === 'user' && question.content),
    /^Plan this:\n.*Your plan so far:\n## Goal.*says:\nsmaller/s,
  );
});

test('a decision that was stored before the crash counts', async () => {
  const decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'someone' } } as const;
  const it = afterRestart(
    [...STARTED, PUT, { kind: 'approval_decided', approvalId: 'apr_7', decision }],
    [answerOf('done')],
  );
  await runToEnd(it.run);
  assert.deepEqual([resultIn(it)?.outcome, it.requests.length], ['done', 1]);
});

test('a cancel rejects the plan, and a stop of the daemon keeps it', async () => {
  const cancelled = planning([answerOf(PLAN)]);
  const ending = runToEnd(cancelled.run);
  await until(() => asked(cancelled).length === 1);
  cancelled.stop(new StopReason('cancel', 'Cancelled by user', { isByUser: true }));
  await ending;
  const resolved = cancelled.events.find((event) => event.type === 'approval_resolved');
  assert.deepEqual([resolved?.plan, resolved?.approved, resolved?.by], ['rejected', false, { kind: 'cancel' }]);
  assert.deepEqual(
    [resultIn(cancelled)?.outcome, resultIn(cancelled)?.output],
    ['cancelled', 'The plan was rejected: Cancelled by user'],
  );
  const stopped = planning([answerOf(PLAN)]);
  const suspending = runToEnd(stopped.run);
  await until(() => asked(stopped).length === 1);
  stopped.stop(new StopReason('shutdown', 'The daemon stops'));
  assert.equal(await suspending, 'suspended');
  assert.deepEqual([resultIn(stopped), stopped.run.progress.planApproval?.decision], [undefined, undefined]);
});

const WRITE = callOf('call_2', 'write_file');
/** Both calls had begun when the daemon died, and the plan waited. */
const twoHadBegun = () =>
  afterRestart(
    [
      ...approvedBatch([CALL, WRITE]),
      { kind: 'tool_started', callId: CALL.id, safeToRepeat: true },
      { kind: 'tool_started', callId: WRITE.id, safeToRepeat: false },
      PUT,
    ],
    [answerOf('done')],
    [CALL, WRITE],
  );
const outcomeAsked = async (it: Planning) => {
  await until(() => it.steps.some(({ approval }) => approval?.kind === 'outcome'));
  return waitingIn(it);
};
const waitingIn = ({ run: { progress } }: Planning) =>
  [progress.outcomeApproval, progress.planApproval].flatMap((question) =>
    question && !question.decision ? question.approvalId : [],
  );

test('a plan that waits gives way to a question about an unknown outcome, and is asked about again after it', async () => {
  const it = twoHadBegun();
  const ending = runToEnd(it.run);
  assert.deepEqual(await outcomeAsked(it), ['apr_1']);
  assert.deepEqual(it.run.progress.planApproval?.decision?.by, { kind: 'cancel' });
  await it.answer({}, 'apr_1');
  await until(() => it.run.progress.planApproval?.decision === undefined);
  assert.deepEqual(waitingIn(it), ['apr_2']);
  await it.answer({}, 'apr_2');
  assert.equal(await ending, 'ended');
  assert.deepEqual([asked(it).at(-1)?.round, asked(it).at(-1)?.content, it.requests.length], [2, PLAN, 1]);
  assert.equal(resultIn(it)?.outcome, 'done');
});

test('a cancel ends the question about an unknown outcome, and no plan waits beside it', async () => {
  const it = twoHadBegun();
  const ending = runToEnd(it.run);
  assert.deepEqual(await outcomeAsked(it), ['apr_1']);
  it.stop(new StopReason('cancel', 'Cancelled by user', { isByUser: true }));
  await ending;
  const resolved = it.events.flatMap((event) => (event.type === 'approval_resolved' ? event.approval_id : []));
  assert.deepEqual([resolved, waitingIn(it)], [['apr_1'], ['apr_1']]);
});
