import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { ProviderError } from '../providers/model.ts';
import { generate } from '../run/generate.ts';
import { answerOf, runFixture } from '../run/run-fixture.ts';
import type { Sight, Surroundings } from './surroundings.ts';

const ASKED: Message = { role: 'user', content: 'hello' };
const ANSWERED: Message = { role: 'assistant', content: 'hi', toolCalls: [] };

/** Surroundings that a test changes. */
function changing() {
  const sight: Sight = { date: '2026-11-23', zone: 'UTC', instructions: { files: [], untrusted: [] } };
  const surroundings: Surroundings = { look: async () => structuredClone(sight) };
  return { sight, surroundings };
}

test('a conversation begins with a prefix that is stored before the model is called', async () => {
  const fixture = runFixture({ turns: [answerOf('hi')] });
  await generate(fixture.run);
  const [first] = fixture.steps;
  assert.equal(first?.prefix?.system, fixture.requests[0]?.system);
  assert.deepEqual(first?.journal, [{ kind: 'model_called', afterSeq: 1 }]);
});

test('later requests begin with the stored prefix, byte for byte; changes follow in a message', async () => {
  const { sight, surroundings } = changing();
  const fixture = runFixture({ turns: [answerOf('hi'), answerOf('again'), answerOf('and again')], surroundings });
  await generate(fixture.run);
  sight.date = '2026-11-24';
  await generate(fixture.run);
  await generate(fixture.run);
  const [first, second, third] = fixture.requests;
  assert.deepEqual(
    [second?.system, third?.system, second?.tools, second?.conversation],
    [first?.system, first?.system, first?.tools, first?.conversation],
  );
  assert.deepEqual(third?.messages.slice(0, second?.messages.length), second?.messages);
  assert.deepEqual(
    third?.messages.map((message) => message.role === 'user' && message.environment?.told?.date),
    [undefined, false, '2026-11-24', false],
  );
  assert.deepEqual(
    fixture.events.filter(({ type }) => type === 'info'),
    [{ type: 'info', message: 'The model was told: the date is now Tuesday, 2026-11-24 (UTC).' }],
  );
});

test('another family of models is a cut: a new prefix, without the messages of the earlier one', async () => {
  const { sight, surroundings } = changing();
  const fixture = runFixture({ turns: [answerOf('hi'), answerOf('again')], surroundings });
  await generate(fixture.run);
  sight.date = '2026-11-24';
  await generate(fixture.run);
  const model = await fixture.settings.model();
  fixture.settings.model = async () => ({ ...model, family: 'another' });
  await generate(fixture.run);
  const last = fixture.requests.at(-1);
  assert.match(last?.system ?? '', /Date: Tuesday, 2026-11-24/);
  assert.deepEqual(
    last?.messages.map(({ role }) => role),
    ['user', 'assistant', 'assistant'],
  );
});

test('a conversation without any answer begins anew with its next message', async () => {
  const { sight, surroundings } = changing();
  const broken = async function* () {
    yield* [];
    throw new Error('refused');
  };
  const fixture = runFixture({ turns: [broken, answerOf('hi')], surroundings });
  await generate(fixture.run);
  sight.date = '2026-11-24';
  await generate(fixture.run);
  assert.match(fixture.requests[1]?.system ?? '', /Date: Tuesday, 2026-11-24/);
});

test('people learn once of instructions that are not used', async () => {
  const { sight, surroundings } = changing();
  sight.instructions.untrusted.push({ path: '/shop/AGENTS.md', text: 'Be brief.', digest: '1' });
  const fixture = runFixture({ messages: [ASKED], turns: [answerOf('hi'), answerOf('again')], surroundings });
  await generate(fixture.run);
  await generate(fixture.run);
  const message =
    'Instructions found but not used, because their folder is not trusted: /shop/AGENTS.md. ' +
    'To use them, add the folder to agents.trusted in config.json.';
  assert.deepEqual(
    fixture.events.filter(({ type }) => type === 'info'),
    [{ type: 'info', message }],
  );
});

test('a conversation from before prefixes were stored gets one, and goes on', async () => {
  const fixture = runFixture({
    messages: [ASKED, ANSWERED, { role: 'user', content: 'and?' }],
    turns: [answerOf('so')],
  });
  await generate(fixture.run);
  assert.deepEqual(fixture.requests[0]?.messages, [ASKED, ANSWERED, { role: 'user', content: 'and?' }]);
});

test('a compaction within a turn is a cut: the next request begins anew, and is stored so', async () => {
  const { sight, surroundings } = changing();
  const tooLong = async function* () {
    yield* [];
    throw new ProviderError('refused', 'too long', { refusal: { about: 'window' } });
  };
  const fixture = runFixture({
    messages: [{ role: 'user', content: 'x'.repeat(4_000) }, ANSWERED, { role: 'user', content: 'and?' }],
    turns: [answerOf('so'), tooLong, answerOf('They talked.'), answerOf('done')],
    surroundings,
    contextWindow: 0,
  });
  await generate(fixture.run);
  sight.date = '2026-11-24';
  await generate(fixture.run);
  const [first, refused, , last] = fixture.requests;
  assert.equal(refused?.conversation, first?.conversation);
  assert.notEqual(last?.conversation, first?.conversation);
  assert.match(last?.system ?? '', /Date: Tuesday, 2026-11-24/);
  assert.doesNotMatch(JSON.stringify(last?.messages), /<environment>/);
  assert.equal(fixture.run.prefix()?.version, last?.conversation);
});
