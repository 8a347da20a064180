import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { type Model, type ModelRequest, ProviderError } from '../../providers/model.ts';
import { answerOf, runFixture, USAGE } from '../run-fixture.ts';
import { createSummaryModel } from './run-model.ts';
import { RunWaits } from './run-waits.ts';

const REQUEST: ModelRequest = {
  ...{ system: 'Summarize.', messages: [{ role: 'user', content: 'all' }] },
  ...{ tools: [], effort: 'low', typedByPerson: false },
};

/** A model of its own family, which answers its alias or fails. */
const modelOf = (alias: string, error?: ProviderError): Model => ({
  ...{ alias, provider: alias, modelId: `${alias}-id`, contextWindow: 0, family: alias, fallback: [] },
  async *stream() {
    if (error) throw error;
    yield* answerOf(alias);
  },
});

function setUp(models: Model[]) {
  const { run, events, journal } = runFixture();
  const log: unknown[] = [];
  const [model, ...others] = models;
  const summarizing = createSummaryModel(
    {
      model: model ?? assert.fail('no model'),
      fallback: others.map(({ alias }) => alias),
      account: {
        begin: async ({ alias }, request) => void log.push(['begin', alias, request.system]),
        end: async ({ usage, model: { modelId } }) => void log.push(['end', modelId, usage]),
      },
    },
    {
      models: { resolve: async (alias) => models.find((one) => one.alias === alias) ?? assert.fail(alias) },
      recorder: run.recorder,
      waits: new RunWaits(),
      clock: fakeClock(),
      log: recordingLog(),
    },
  );
  const read = async () => {
    let text = '';
    for await (const part of summarizing.stream(REQUEST, new AbortController().signal)) {
      if (part.type === 'content') text += part.text;
    }
    return text;
  };
  return { read, log, events, journal };
}

test('each request for a summary is reserved before it is made, and counted with its answer', async () => {
  const { read, log } = setUp([modelOf('one')]);
  for (let n = 0; n < 2; n += 1) assert.equal(await read(), 'one');
  const once = [
    ['begin', 'one', 'Summarize.'],
    ['end', 'one-id', USAGE],
  ];
  assert.deepEqual(log, [...once, ...once]);
});

test('a model of any family takes over a summary, is reserved at its own price, and only for the summary', async () => {
  const down = new ProviderError('unreachable', 'one is down.');
  const { read, log, events, journal } = setUp([modelOf('one', down), modelOf('two')]);
  assert.equal(await read(), 'two');
  assert.deepEqual(log, [
    ['begin', 'one', 'Summarize.'],
    ['begin', 'two', 'Summarize.'],
    ['end', 'two-id', USAGE],
  ]);
  const message = 'one cannot answer, so two writes the summary. one is down.';
  assert.deepEqual(events, [{ type: 'info', code: 'model_fallback', level: 'warning', message }]);
  assert.deepEqual(journal, []);
});
