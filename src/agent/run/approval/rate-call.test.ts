import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from '../batch.ts';
import { runFixture } from '../run-fixture.ts';
import { answered, SHELL, shell } from './shell-fixture.ts';

const JUDGE = { home: '/home/me', usesModel: false, threshold: 0.7, begin: () => ({ decided: () => undefined }) };

const started = (judge: typeof JUDGE) =>
  runFixture({
    tools: { bash: SHELL },
    journal: answered(shell('1', 'touch it')),
    autoApprove: true,
    judge,
  });

test('the verdict about a call that nobody was asked about is stored with its result', async () => {
  const { run, steps } = started(JUDGE);
  await runBatch(run);
  const rated = steps.filter(({ verdicts }) => verdicts !== undefined);
  assert.deepEqual(
    rated.map(({ verdicts, journal }) => [
      verdicts?.map(({ verdict, auto }) => [verdict.call_id, auto]),
      journal?.[0]?.kind,
    ]),
    [[[['1', 'blanket']], 'tool_finished']],
  );
});

test('a call that cannot be rated keeps its result', async () => {
  const { run, messages, log } = started({
    ...JUDGE,
    get home(): string {
      throw new Error('unforeseen');
    },
  });
  await runBatch(run);
  assert.equal(messages.at(-1)?.role, 'tool');
  assert.deepEqual(log.lines, [['error', 'a call could not be rated']]);
});
