import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopReason } from '../stop-reason.ts';
import { generate } from './generate.ts';
import { answerOf, runFixture } from './run-fixture.ts';

test('an answer has its cost by the price at that time, and the time that it took', async () => {
  const fixture = runFixture({
    turns: [
      async function* () {
        await fixture.clock.advance(2_500);
        yield* answerOf('yes');
      },
    ],
    price: { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4 },
  });
  await generate(fixture.run);
  const answer = fixture.messages.at(-1);
  const cost_usd = (83 * 2 + 4 * 0.5 + 3 * 4 + 10 * 10) / 1_000_000;
  assert.deepEqual(answer?.role === 'assistant' && answer.spent, {
    ...{ model: 'test/scripted', input_tokens: 90, cache_read_tokens: 4, cache_write_tokens: 3, output_tokens: 10 },
    ...{ cost_usd, duration_ms: 2_500 },
  });
});

test('a stop does not wait for a model that is still being described', async () => {
  const fixture = runFixture({ turns: [] });
  const run = {
    ...fixture.run,
    settings: { ...fixture.run.settings, model: () => new Promise<never>(() => undefined) },
  };
  const waiting = generate(run);
  fixture.stop(new StopReason('shutdown', 'stopping'));
  await assert.rejects(waiting, /stopping/);
  assert.deepEqual(fixture.events, []);
});

test('requests ask for the temperature and the length that the workstream wants, up to the limit of the model', async () => {
  const fixture = runFixture({ turns: [answerOf('hi')], sampling: { temperature: 0.2, maxOutputTokens: 500 } });
  await generate(fixture.run);
  const [{ temperature, maxOutputTokens } = {}] = fixture.requests;
  assert.deepEqual([temperature, maxOutputTokens], [0.2, 500]);
});
