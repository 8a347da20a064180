import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { type Model, type ModelPart, type ModelRequest, type Patience, ProviderError } from '../../providers/model.ts';
import type { JournalEntry } from '../journal.ts';
import { answerOf, runFixture, until } from '../run-fixture.ts';
import { createRunModel, FamilyChanged } from './run-model.ts';
import { RunWaits } from './run-waits.ts';

const limited = () => new ProviderError('rate_limited', 'busy answered 429: slow down', { retryable: true });
const refusedKey = () => new ProviderError('unauthorized', 'openai rejected the key from OPENAI_API_KEY (401).');

type Answer =
  | (ModelPart | Error)[]
  | Error
  | ((patience: Patience | undefined, signal: AbortSignal) => Promise<ModelPart[]>);

/** Models with scripted answers, one after another, and a run that uses the first of them. */
function setUp(
  scripts: Record<string, { family?: string; fallback?: string[]; answers: Answer[] }>,
  journal: JournalEntry[] = FIRST_TURN,
) {
  const asked: string[] = [];
  const models = {
    async resolve(alias = Object.keys(scripts)[0] ?? ''): Promise<Model> {
      const script = scripts[alias];
      if (!script) throw new Error(`no model ${alias}`);
      const { family = 'one', fallback = [], answers } = script;
      return {
        ...{ alias, provider: 'test', modelId: `${alias}-id`, contextWindow: alias.length, family, fallback },
        stream(_request, signal, patience) {
          asked.push(alias);
          return play(answers.shift() ?? answerOf(`${alias} speaks`), signal, patience);
        },
      };
    },
  };
  const { run, events, journal: recorded } = runFixture({ journal });
  const { recorder, progress } = run;
  const clock = fakeClock(1_000);
  const waits = new RunWaits();
  const log = recordingLog();
  const model = createRunModel({ models, chosen: () => undefined, progress, recorder, waits, clock, log });
  const abort = new AbortController();
  const read = async (request: Partial<ModelRequest> = {}) => {
    const current = await model(async () => ({}));
    let text = '';
    for await (const part of current.stream({ ...REQUEST, ...request }, abort.signal)) {
      if (part.type === 'content') text += part.text;
    }
    return { text, alias: current.alias, window: current.contextWindow };
  };
  return { read, asked, waits, clock, abort, log, events, recorded };
}

async function* play(answer: Answer, signal: AbortSignal, patience: Patience | undefined): AsyncGenerator<ModelPart> {
  if (answer instanceof Error) throw answer;
  for (const part of typeof answer === 'function' ? await answer(patience, signal) : answer) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

const FIRST_TURN: JournalEntry[] = [{ kind: 'started' }, { kind: 'model_called', afterSeq: 1 }];
const SECOND_TURN: JournalEntry[] = [
  ...FIRST_TURN,
  { kind: 'model_answered', calls: [] },
  { kind: 'model_called', afterSeq: 3 },
];
const REQUEST: ModelRequest = {
  ...{ system: '', messages: [{ role: 'user', content: 'hi' }], tools: [], effort: 'medium', typedByPerson: true },
};

test('if a model cannot answer, its fallback answers the rest of the run, and clients and the journal have it', async () => {
  const { read, asked, events, recorded } = setUp({
    first: { fallback: ['second'], answers: [refusedKey()] },
    second: { answers: [] },
  });
  assert.deepEqual(await read(), { text: 'second speaks', alias: 'second', window: 6 });
  await read();
  assert.deepEqual(asked, ['first', 'second', 'second']);
  const message =
    'first cannot answer, so second takes over for this run. openai rejected the key from OPENAI_API_KEY (401).';
  assert.deepEqual(events, [{ type: 'info', code: 'model_fallback', level: 'warning', message }]);
  assert.deepEqual(recorded, [{ kind: 'fell_back', model: 'second' }]);
});

test('after a restart, the model that had taken over goes on, and then its own successors', async () => {
  const { read, asked } = setUp(
    { first: { fallback: ['second', 'third'], answers: [] }, second: { answers: [limited()] }, third: { answers: [] } },
    [...SECOND_TURN, { kind: 'fell_back', model: 'second' }],
  );
  assert.equal((await read()).text, 'third speaks');
  assert.deepEqual(asked, ['second', 'third']);
});

test('later in a run only a model of the same family takes over, and models that are not available are skipped', async () => {
  const models = () => ({
    first: { fallback: ['stranger', 'missing', 'cousin'], answers: [limited()] },
    stranger: { family: 'other', answers: [] },
    cousin: { answers: [] },
  });
  const later = setUp(models(), SECOND_TURN);
  assert.equal((await later.read()).alias, 'cousin');
  const first = setUp(models());
  await assert.rejects(first.read(), FamilyChanged); // its request has to begin anew
  assert.equal((await first.read()).alias, 'stranger');
  assert.deepEqual(first.asked, ['first', 'stranger']);
  assert.deepEqual(later.log.lines, [['warn', 'a fallback model is not available']]);
});

test('refusals of the request, breaks after the first word, and continuations stay with the model', async () => {
  const fallback = ['second'];
  const refused = new ProviderError('refused', 'too long');
  const broken = new ProviderError('interrupted', 'broke off', { retryable: true });
  const continuing: ModelRequest['messages'] = [{ role: 'assistant', content: 'Hel', toolCalls: [] }];
  const cases: [Error, Answer, Partial<ModelRequest>][] = [
    [refused, refused, {}],
    [limited(), limited(), { messages: continuing }],
    [broken, [{ type: 'content', text: 'Hel' }, broken], {}],
  ];
  for (const [error, answer, request] of cases) {
    const { read, asked } = setUp({ first: { fallback, answers: [answer] }, second: { answers: [] } });
    await assert.rejects(read(request), { message: error.message });
    assert.deepEqual(asked, ['first']);
  }
});

test('the last error of the chain ends the answer', async () => {
  const { read, asked } = setUp({
    first: { fallback: ['second'], answers: [limited()] },
    second: { answers: [refusedKey()] },
  });
  await assert.rejects(read(), { kind: 'unauthorized' });
  assert.deepEqual(asked, ['first', 'second']);
});

test('a model that is gone, or an account without credit, is worth a fallback', async () => {
  for (const detail of ['no_model', 'no_credit'] as const) {
    const gone = new ProviderError('refused', 'gone', { detail });
    const { read } = setUp({ first: { fallback: ['second'], answers: [gone] }, second: { answers: [] } });
    assert.equal((await read()).alias, 'second');
  }
});

const waiting: Answer = async (patience, signal) => {
  const pause = { error: limited(), untilMs: 31_000, attempt: 2, attempts: 6 };
  await patience?.wait(pause, signal);
  return answerOf(patience?.hasFallback ? 'with a fallback' : 'alone');
};
const WAIT = {
  ...{ type: 'wait_start', reason: 'rate_limited', message: 'busy answered 429: slow down', until_ms: 31_000 },
  ...{ attempt: 2, attempts: 6, model_alias: 'first' },
};

test('a wait is shown, and ends at its time or when a person says so', async () => {
  const onTime = setUp({ first: { answers: [waiting] } });
  const read = onTime.read();
  await until(() => onTime.events.length > 0);
  assert.deepEqual(onTime.events, [WAIT]);
  await onTime.clock.advance(29_999);
  assert.deepEqual(onTime.events, [WAIT]);
  await onTime.clock.advance(1);
  assert.equal((await read).text, 'alone');
  assert.deepEqual(onTime.events, [WAIT, { type: 'wait_stop' }]);
  assert.equal(onTime.waits.tryNow(), false);

  const hurried = setUp({ first: { fallback: ['second'], answers: [waiting] }, second: { answers: [] } });
  const early = hurried.read();
  await until(() => hurried.events.length > 0);
  assert.deepEqual([hurried.waits.tryNow(), hurried.waits.tryNow()], [true, false]);
  assert.equal((await early).text, 'with a fallback');
  assert.deepEqual(hurried.events, [WAIT, { type: 'wait_stop' }]);
});

test('a cancel ends a wait with its reason, and no other model is asked', async () => {
  const { read, asked, abort, events } = setUp({
    first: { fallback: ['second'], answers: [waiting] },
    second: { answers: [] },
  });
  const answer = read();
  await until(() => events.length > 0);
  abort.abort(new Error('cancelled'));
  await assert.rejects(answer, { message: 'cancelled' });
  assert.deepEqual([asked, events.at(-1)], [['first'], { type: 'wait_stop' }]);
});
