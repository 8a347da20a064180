import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleSource } from '../../permissions/rules/rule-source.ts';
import { runBatch } from '../batch.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import type { RunJudge } from '../run-context.ts';
import { callOf, type FixtureOptions, has, runFixture, until } from '../run-fixture.ts';
import { answered } from './shell-fixture.ts';

const ASK: FakeTool = {
  needsApproval: true,
  readOnly: true,
  safeToRepeat: true,
  known: () => ({ question: { text: 'Which port?', choices: [] } }),
  execute: ({ answer }) => ({ output: JSON.stringify(answer ?? null), outcome: 'done' }),
};

const started = (options: FixtureOptions) =>
  runFixture({ tools: { ask_user: ASK }, journal: answered(callOf('1', 'ask_user')), ...options });

const resultsOf = ({ messages }: ReturnType<typeof runFixture>) =>
  messages.flatMap((message) => (message.role === 'tool' ? [[message.outcome, message.output]] : []));

const RULE: RuleSource = {
  ...{ ruleId: 'rul_1', source: 'rule', action: 'allow', match: { tool: 'ask_user' }, place: 'everywhere' },
  ...{ priority: 0, createdAtMs: 1 },
};
const JUDGE: RunJudge = {
  ...{ home: undefined, usesModel: false, threshold: 0 },
  begin: () => ({ decided: () => undefined }),
};

const WAYS: Record<string, FixtureOptions> = {
  'the mode full': { autoApprove: true },
  'a tool list': { approvedTools: ['ask_user'] },
  'a rule': { callRules: [RULE] },
  'the judge': { mode: 'auto', judge: JUDGE },
  'the mode read_only': { mode: 'read_only' },
  'a job that waits': { policy: { mode: 'wait' } },
};
for (const [name, options] of Object.entries(WAYS))
  test(`${name} answers no question of the agent: a person does`, async () => {
    const fixture = started(options);
    const running = runBatch(fixture.run);
    await until(() => has(fixture, 'approve_request'));
    const [item] = fixture.events.flatMap((event) => (event.type === 'approve_request' ? event.items : []));
    assert.deepEqual([item?.question?.text, item?.verdict, item?.auto_approved], ['Which port?', undefined, undefined]);
    await fixture.answer({ approved: true, answers: { '1': { text: '80' } } });
    await running;
    assert.deepEqual(resultsOf(fixture), [['done', '{"text":"80"}']]);
  });

test('where nobody can be asked, the agent reads that at once, also if the job allows the tool', async () => {
  for (const policy of [{ mode: 'deny' }, { mode: 'allow', tools: ['ask_user'] }] as const) {
    const fixture = started({ policy: policy.mode === 'deny' ? policy : { mode: 'allow', tools: [...policy.tools] } });
    await runBatch(fixture.run);
    assert.equal(has(fixture, 'approve_request'), false);
    const [[outcome, output] = []] = resultsOf(fixture);
    assert.equal(outcome, 'blocked');
    assert.match(output ?? '', /^Not run: no approver was available, and the job’s policy/);
  }
});

test('a rule that denies blocks the question, and a decision without an answer is none', async () => {
  const denied = started({ callRules: [{ ...RULE, action: 'deny' }] });
  await runBatch(denied.run);
  assert.equal(resultsOf(denied)[0]?.[0], 'blocked');
  const fixture = started({});
  const running = runBatch(fixture.run);
  await fixture.answer({ approved: true });
  await running;
  assert.deepEqual(resultsOf(fixture), [['done', 'null']]);
});
