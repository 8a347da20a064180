import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../support/channels/stored-rows.ts';
import type { Fault } from '../support/channels/telegram/scripted-faults.ts';
import { TELEGRAM_PACE } from '../support/channels/telegram/send-limits.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import {
  type AttackStage,
  elapse,
  openAttackStage,
  PEOPLE,
  untilDelivered,
  untilHandled,
  untilSent,
} from './attacks/attack-stage.ts';

const NOTICE = '⚠ Something that I sent you earlier may not have arrived. Ask me for it if you miss it.';

/** Answers that differ, so that each can be found. */
function answers(stage: AttackStage, ...texts: string[]): void {
  for (const text of texts) stage.scripts.push({ text: `say ${text}`, answer: say(text), after: say(text) });
}

/** How the parts ended, in alphabetical order. */
async function partsOf(stage: AttackStage): Promise<string[]> {
  await untilSent(stage);
  return readRows(stage.daemon.home)
    .chunks.map(({ state }) => String(state))
    .toSorted();
}

test('429: that chat waits as long as Telegram asks, and the others go on', async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const { telegram, clock, people } = stage;
  answers(stage, 'one', 'two', 'three');
  telegram.faults.add('sendMessage', { kind: 'limit', seconds: 7 }, { chat: PEOPLE.ada });
  people.ada.says('say one');
  await telegram.call('sendMessage', 1);
  people.bob.says('say two');
  await people.bob.chat.until(({ text }) => text === 'two');
  await clock.advance(6_900);
  people.bob.says('say three');
  await people.bob.chat.until(({ text }) => text === 'three');
  assert.deepEqual(people.ada.chat.texts, []);
  await elapse(stage, () => people.ada.chat.texts.length > 0);
  assert.deepEqual(people.ada.chat.texts, ['one']);
});

test('a long answer keeps the pace that Telegram allows in a chat, and arrives completely and in order', async () => {
  await using stage = await openAttackStage({}, { pace: TELEGRAM_PACE });
  await stage.start();
  const { people, telegram } = stage;
  const paragraphs = Array.from({ length: 5 }, (_, index) => `${index}${'x'.repeat(4_000)}`);
  stage.scripts.push({ text: 'at length', answer: say(paragraphs.join('\n\n')), after: say('') });
  people.ada.says('at length');
  for (let part = 1; part <= paragraphs.length; part += 1) {
    await elapse(stage, () => people.ada.chat.texts.length >= part);
    people.bob.says(`hello ${part}`);
    await elapse(stage, () => people.bob.chat.texts.length >= part);
  }
  assert.deepEqual(people.ada.chat.texts, paragraphs);
  const limited = telegram.callsOf('sendMessage').filter(({ status }) => status === 429).length;
  assert.ok(limited >= paragraphs.length - 1);
});

const LOST: [Fault['kind'], string[]][] = [
  ['reset-after', ['one']],
  ['cut', ['one']],
  ['truncated', ['one']],
  ['bad-gateway-after', ['one']],
  ['reset', []],
  ['bad-gateway', []],
];

for (const [kind, arrived] of LOST) {
  const fault = { kind } as Fault;
  test(`${kind}: the part is ambiguous, is not sent again, and the chat is told with the next message`, async () => {
    await using stage = await openAttackStage();
    const client = await stage.start();
    const { ada } = stage.people;
    answers(stage, 'one', 'two', 'three');
    stage.telegram.faults.add('sendMessage', fault);
    ada.says('say one');
    await stage.telegram.call('sendMessage', 1);
    ada.says('say two');
    await ada.chat.until(({ text }) => text === 'two');
    ada.says('say three');
    await ada.chat.until(({ text }) => text === 'three');
    assert.deepEqual(ada.chat.texts, [...arrived, NOTICE, 'two', 'three']);
    assert.deepEqual(await partsOf(stage), ['accepted', 'accepted', 'accepted', 'ambiguous']);
    const { parts } = await client.call('channel.part.list', {});
    const [lost] = parts.filter(({ state }) => state === 'ambiguous');
    assert.match(lost?.reason ?? '', /Telegram may have carried it out/);
    assert.equal(lost?.providerId, undefined);
  });
}

for (const [kind, arrived] of LOST.filter(([name]) => name === 'reset' || name === 'reset-after')) {
  test(`${kind}, with the policy retry: the part is sent again`, async () => {
    await using stage = await openAttackStage({ ambiguous: 'retry' });
    await stage.start();
    const { ada } = stage.people;
    answers(stage, 'one');
    stage.telegram.faults.add('sendMessage', { kind } as Fault);
    ada.says('say one');
    await stage.telegram.call('sendMessage', 1);
    await elapse(stage, () => ada.chat.texts.length > arrived.length);
    assert.deepEqual([ada.chat.texts, await partsOf(stage)], [[...arrived, 'one'], ['accepted']]);
  });
}

test('while Telegram refuses connections nothing is lost, doubled or called ambiguous', async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const { ada } = stage.people;
  answers(stage, 'one', 'two');
  stage.telegram.faults.add('sendMessage', { kind: 'limit', seconds: 1 });
  ada.says('say one');
  await stage.telegram.call('sendMessage', 1);
  await stage.telegram.goAway();
  const untilMs = stage.clock.now() + 5_000;
  await elapse(stage, () => stage.clock.now() >= untilMs);
  await stage.telegram.comeBack();
  await elapse(stage, () => ada.chat.texts.length > 0);
  assert.deepEqual([ada.chat.texts, await partsOf(stage)], [['one'], ['accepted']]);
});

test("400 can't parse entities: the same part comes as plain text", async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const { ada } = stage.people;
  answers(stage, '**one**');
  stage.telegram.faults.add('sendMessage', { kind: 'refuse', description: "can't parse entities: at byte offset 3" });
  ada.says('say **one**');
  const { text, isFormatted } = await ada.chat.next();
  assert.deepEqual([text, isFormatted, await partsOf(stage)], ['one', false, ['accepted']]);
});

test('a part that Telegram refuses fails alone: those after it arrive', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { telegram, clock, people } = stage;
  const paragraphs = Array.from({ length: 3 }, (_, index) => `${index}${'x'.repeat(4_000)}`);
  stage.scripts.push({ text: 'at length', answer: say(paragraphs.join('\n\n')), after: say('') });
  telegram.faults.add('sendMessage', { kind: 'slow', ms: 1_000 });
  people.ada.says('at length');
  await telegram.call('sendMessage', 1);
  telegram.faults.add('sendMessage', { kind: 'refuse', description: 'MESSAGE_REFUSED' });
  await clock.advance(1_000);
  await people.ada.chat.untilTrue(({ texts }) => texts.length === 2);
  assert.deepEqual(people.ada.chat.texts, [paragraphs[0], paragraphs[2]]);
  assert.deepEqual(await partsOf(stage), ['accepted', 'accepted', 'failed']);
  const { parts } = await client.call('channel.part.list', {});
  assert.match(parts.find(({ state }) => state === 'failed')?.reason ?? '', /MESSAGE_REFUSED/);
});

test('403: a person who blocked the bot gets nothing more, and nothing is repeated', async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const { ada, bob } = stage.people;
  answers(stage, 'one', 'two');
  ada.says('say one');
  ada.blocks();
  await stage.telegram.call('sendMessage', 1);
  bob.says('say two');
  await bob.chat.until(({ text }) => text === 'two');
  assert.deepEqual(await partsOf(stage), ['accepted', 'failed']);
  assert.equal(stage.telegram.callsOf('sendMessage').length, 2);
});

test('an answer of more than 4096 units with code arrives in parts, each with complete code', async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const lines = Array.from({ length: 600 }, (_, index) => `  call(${index}, "<&>😀");`);
  const markdown = `Here it is:\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n\nThat is **all**.`;
  stage.scripts.push({ text: 'code', answer: say(markdown), after: say('') });
  const { ada } = stage.people;
  ada.says('code');
  await ada.chat.until(({ text }) => text.endsWith('That is all.'));
  const { sent } = ada.chat;
  assert.ok(sent.length > 2 && sent.every(({ text }) => text.length <= 4_096));
  const code = sent.flatMap(({ text, entities }) =>
    entities
      .filter(({ type, ...rest }) => type === 'pre' && 'language' in rest && rest.language === 'ts')
      .map(({ offset, length }) => text.slice(offset, offset + length)),
  );
  assert.equal(code.join('\n'), lines.join('\n'));
});

test('a notice of something lost comes as a message of its own, never with the buttons of a question or in its place', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { ada } = stage.people;
  const plant = callTools({ name: 'bash', arguments: { command: 'echo a | tee planted' } });
  stage.scripts.push({ text: 'plant', answer: plant, after: say('Planted.') });
  answers(stage, 'one');
  stage.telegram.faults.add('sendMessage', { kind: 'reset' });
  ada.says('say one');
  await stage.telegram.call('sendMessage', 1);
  await untilHandled(stage);
  ada.says('plant it');
  const question = await ada.chat.until(({ buttons }) => buttons.length > 0);
  assert.match(question.text, /May I do this\?/);
  await ada.presses('✅ Approve');
  await ada.chat.until(({ text }) => text === 'Planted.');
  const shown = ada.chat.sent.map(({ text, buttons, messageId }) => ({ text, buttons, messageId }));
  assert.deepEqual(shown.map(({ text }) => text).slice(1), [NOTICE, 'Planted.']);
  // The question itself is lost: it is decided elsewhere.
  stage.telegram.faults.add('sendMessage', { kind: 'reset' });
  ada.says('plant it again');
  await stage.telegram.call('sendMessage', 5);
  await untilDelivered(stage);
  const { approvals } = await client.call('approval.list', {});
  await client.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: true });
  await ada.chat.untilTrue(({ texts }) => texts.length === 5);
  assert.deepEqual(ada.chat.texts.slice(3), [NOTICE, 'Planted.']);
  const { chunks } = readRows(stage.daemon.home);
  assert.deepEqual(
    chunks.filter(({ state, provider_id }) => (state === 'accepted') !== /^\d+$/.test(String(provider_id))),
    [],
    'nothing counts as sent without an id',
  );
});
