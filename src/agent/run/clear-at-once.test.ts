import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StopReason } from '../stop-reason.ts';
import { generate } from './generate.ts';
import { runToEnd } from './run.ts';
import { answerOf, callOf, type FixtureOptions, runFixture } from './run-fixture.ts';

const ONE = callOf('one');
const TWO = callOf('two', 'danger');
const ASKING = { danger: { needsApproval: true } };

/** What was stored with the answer. */
async function answered(options: FixtureOptions) {
  const fixture = runFixture(options);
  const generated = await generate(fixture.run);
  const step = fixture.steps.find(({ messages }) => messages?.[0]?.role === 'assistant');
  return { fixture, generated, kinds: step?.journal?.map(({ kind }) => kind) };
}

test('calls that nobody has to be asked about are cleared in the step that stores their answer, and run once', async () => {
  let ran = 0;
  const execute = () => {
    ran += 1;
    return { output: 'ran', outcome: 'done' as const };
  };
  const tools = { danger: { needsApproval: true, execute } };
  const fixture = runFixture({ turns: [answerOf('', [TWO]), answerOf('done')], tools, autoApprove: true });
  await runToEnd(fixture.run);
  const clearing = fixture.steps.filter(({ journal = [] }) => journal.some(({ kind }) => kind === 'batch_cleared'));
  assert.deepEqual([ran, clearing.length, clearing[0]?.messages?.length], [1, 1, 1]);
  const shown = fixture.events.filter(({ type }) => type === 'tool_info');
  assert.equal(shown.length, 1, 'they are shown once');
});

test('a call that needs a person, or repeats itself, is not cleared with its answer, nor are the others of its batch', async () => {
  const asks = await answered({ turns: [answerOf('', [ONE, TWO])], tools: ASKING });
  assert.deepEqual(asks.kinds, ['model_answered']);

  const result = { kind: 'tool_finished', callId: 'one' } as const;
  const probe = await answered({ turns: [answerOf('', [ONE])] });
  const [item] = probe.generated.kind === 'answered' ? (probe.generated.prepared ?? []) : [];
  const trace = { kind: 'result', call: item?.keys.call ?? '', result: 'same' } as const;
  const repeated = await answered({
    turns: [answerOf('', [ONE])],
    journal: [{ kind: 'started' }, { ...result, trace }, { ...result, trace }],
  });
  assert.deepEqual(repeated.kinds, ['model_answered']);
});

const lastOf = ({ messages }: ReturnType<typeof runFixture>) => {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last.content : undefined;
};

test('an answer is stored although its calls cannot be prepared, and although the run is stopped meanwhile', async () => {
  const gone = runFixture({ turns: [answerOf('kept', [ONE])] });
  let checks = 0;
  const check = () => {
    checks += 1;
    return Promise.reject(new Error('gone'));
  };
  const away = { ...gone.run, settings: { ...gone.run.settings, workdir: { path: '/work', check } } };
  assert.deepEqual(await generate(away), { kind: 'answered', text: 'kept' });
  assert.deepEqual([checks, lastOf(gone)], [1, 'kept']);

  const slow = runFixture({ turns: [answerOf('kept', [ONE])] });
  const reached = Promise.withResolvers<void>();
  const never = {
    path: '/work',
    check() {
      reached.resolve();
      return new Promise<never>(() => undefined);
    },
  };
  const waiting = generate({ ...slow.run, settings: { ...slow.run.settings, workdir: never } });
  await reached.promise;
  await setImmediate(); // the rest of the answer has streamed
  slow.stop(new StopReason('cancel', 'cancelled'));
  assert.deepEqual(await waiting, { kind: 'answered', text: 'kept' });
  assert.equal(lastOf(slow), 'kept');
});

test('a call is prepared while the rest of its answer streams, and once; an answer that breaks off leaves nothing', async () => {
  const fixture = runFixture({ turns: [answerOf('', [ONE, TWO])] });
  const before: string[] = [];
  const { workdir } = fixture.run.settings;
  const check = () => {
    before.push(...fixture.messages.slice(-1).map(({ role }) => role));
    return workdir.check();
  };
  const run = { ...fixture.run, settings: { ...fixture.run.settings, workdir: { ...workdir, check } } };
  await generate(run);
  assert.deepEqual(before, ['user', 'user'], 'each before the answer is stored');

  const gone = runFixture({
    turns: [
      async function* () {
        yield { type: 'tool_call', call: ONE };
        throw new Error('broke off');
      },
    ],
  });
  const rejects = () => Promise.reject(new Error('gone'));
  const away = { ...gone.run, settings: { ...gone.run.settings, workdir: { path: '/work', check: rejects } } };
  assert.equal((await generate(away)).kind, 'broken');
});

test('the calls of the last answer that a limit allows, and of an answer that was cut off, are not cleared', async () => {
  const journal = [
    { kind: 'started' },
    { kind: 'tool_finished', callId: 'x', wrapUp: 'turns' },
  ] satisfies FixtureOptions['journal'];
  const last = await answered({ turns: [answerOf('', [ONE])], journal });
  assert.deepEqual(last.kinds, ['model_answered']);
});
