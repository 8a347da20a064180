import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Sight, Surroundings } from '../../agent/prefix/surroundings.ts';
import { ProviderError } from '../../agent/providers/model.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Sends messages that are each answered by their text in capitals. */
async function say(gateway: WholeGateway, ...messages: string[]): Promise<void> {
  for (const message of messages) {
    gateway.puppet.turn(message.toUpperCase());
    await (await gateway.accept(message))?.ended;
  }
}

const LONG = 'x'.repeat(40_000);

/** Runs /compact, whose summary is `S`, and waits for its end. */
async function compact(gateway: WholeGateway, focus = ''): Promise<void> {
  const wsId = await gateway.main();
  const { length } = await gateway.events(wsId);
  gateway.puppet.turn('S');
  await gateway.call('workstream.command', { wsId, command: `/compact ${focus}` });
  await turnsUntil(
    async () => (await gateway.events(wsId)).length > length && !gateway.mainWorkstream().busy,
    'its end',
  );
}

const sent = (gateway: WholeGateway) =>
  gateway.puppet.requests
    .at(-1)
    ?.messages.map((message) => ('content' in message ? message.content : message.output)) ?? [];
const shown = async (gateway: WholeGateway) => {
  const { messages } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  return messages.map(({ content }) => content?.slice(0, 9));
};
const cuts = (gateway: WholeGateway) => gateway.store.db.selectFrom('cuts').selectAll().execute();

test('/compact replaces all but the newest messages for the model, and people still see them', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `Never use tabs. ${LONG}`, LONG, 'c');
  const before = await shown(gateway);
  await compact(gateway, 'the tabs');
  assert.match(sent(gateway)[0] ?? '', /keep in particular: the tabs/);
  assert.deepEqual(await shown(gateway), before);
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  const note = snapshot.notes?.at(-1);
  assert.equal(note?.kind, 'compacted');
  const status = (await gateway.events(wsId)).findLast((event) => event.type === 'status');
  assert.deepEqual(status, { type: 'status', ...snapshot.status });
  assert.ok((snapshot.status?.pct ?? 0) > 0 && (snapshot.status?.pct ?? 100) < 60, `${snapshot.status?.pct} %`);
  await say(gateway, 'd');
  const [summary = '', ...rest] = sent(gateway);
  assert.match(summary, /^\[Summary of the conversation so far[\s\S]*\n\nS\n\n[\s\S]*- Never use tabs\./);
  assert.deepEqual([note?.kind === 'compacted' && note.summary === summary, rest.at(-1)], [true, 'd']);
  assert.ok(rest.length < 5);
});

test('the system prompt counts in the status after /compact, also after a restart', async () => {
  const tokensWith = async (text: string) => {
    const files = [{ path: '/shop/AGENTS.md', text, digest: '1' }];
    const sight: Sight = { date: '2026-11-23', zone: 'UTC', instructions: { files, untrusted: [] } };
    const surroundings: Surroundings = { look: async () => sight };
    await using gateway = await wholeGateway({ surroundings });
    await say(gateway, `a${LONG}`, `b${LONG}`, 'c');
    await gateway.restart();
    await compact(gateway);
    const { snapshot } = await gateway.call('workstream.get', { wsId: await gateway.main() });
    return snapshot.status?.prompt_tokens ?? 0;
  };
  const more = (await tokensWith('x'.repeat(30_000))) - (await tokensWith(''));
  assert.ok(more > 5_000, `${more} tokens more`);
});

test('a summary is the same after a restart, and a rewind to before it brings the originals back', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `a${LONG}`, `b${LONG}`, 'c');
  await compact(gateway);
  await say(gateway, 'd');
  const first = sent(gateway);
  await gateway.restart();
  await say(gateway, 'e');
  assert.deepEqual(sent(gateway).slice(0, first.length), first);
  await gateway.call('workstream.rewind', { wsId, turns: 3 });
  await say(gateway, 'f');
  assert.deepEqual(
    sent(gateway).map((text) => text.slice(0, 3)),
    ['axx', 'AXX', 'bxx', 'BXX', 'f'],
  );
});

test('the tokens of a summary count, and a restart keeps the count of the context', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, `a${LONG}`, `b${LONG}`, 'c');
  const tokens = async () => {
    const { rows } = await gateway.call('usage.get', { by: 'principal' });
    return rows.map(({ turns, inputTokens }) => ({ turns, inputTokens }));
  };
  const [before] = await tokens();
  await compact(gateway);
  const [after] = await tokens();
  assert.deepEqual([before?.turns, after?.turns], [3, 4]);
  assert.ok((after?.inputTokens ?? 0) > (before?.inputTokens ?? 0));
  await say(gateway, 'd');
  const counted = await gateway.store.db.selectFrom('workstreams').select('usage_json').executeTakeFirstOrThrow();
  assert.equal(JSON.parse(counted.usage_json ?? '').afterSeq, 8);
});

test('/compact is refused during an answer, and says when there is nothing to do', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  await compact(gateway);
  const told = (await gateway.events(wsId)).at(-1);
  assert.deepEqual(told, { type: 'info', message: 'There is nothing to summarize: the conversation is short.' });
  gateway.puppet.turn(never());
  await gateway.accept('b');
  await gateway.reaches(wsId, 'thinking_start', 2);
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  const refused = (await gateway.events(wsId)).at(-1);
  assert.match(refused?.type === 'info' ? refused.message : '', /^\/compact is not possible/);
  assert.deepEqual(await cuts(gateway), []);
});

test('/compact is refused by a used-up budget, with what helps, and is possible with a larger one', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, LONG, LONG, 'c');
  await gateway.call('budget.set', { wsId, tokens: 10 });
  const before = [await shown(gateway), gateway.puppet.requests.length];
  const { length } = await gateway.events(wsId);
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  await turnsUntil(async () => (await gateway.events(wsId)).length > length, 'its end');
  await turnsUntil(() => !gateway.mainWorkstream().busy, 'the end of its work');
  const told = (await gateway.events(wsId)).slice(length);
  assert.match(JSON.stringify(told), /is used up\. /);
  assert.deepEqual([await shown(gateway), gateway.puppet.requests.length], before);
  assert.deepEqual(await cuts(gateway), []);
  await gateway.call('budget.set', { wsId, tokens: 10_000_000 });
  await compact(gateway);
  assert.equal((await cuts(gateway)).length, 1);
});

test('a message during /compact waits, and is answered with the summary', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `a${LONG}`, `b${LONG}`);
  const writes = Promise.withResolvers<void>();
  gateway.puppet.turn(writes.promise, 'S');
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  const run = await gateway.accept('c');
  writes.resolve();
  await run?.ended;
  assert.match(sent(gateway)[0] ?? '', /^\[Summary/);
});

test('a cancel stops /compact, and a message that waits behind it can be taken back before', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `a${LONG}`, `b${LONG}`);
  gateway.puppet.turn(never());
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  await gateway.reaches(wsId, 'info', 1);
  const waiting = await gateway.accept('c');
  assert.equal(await gateway.mainWorkstream().cancelRun(waiting?.run.runId ?? ''), true);
  assert.equal((await waiting?.ended)?.status, 'cancelled');
  assert.equal(gateway.mainWorkstream().busy, true);
  await gateway.call('workstream.cancel', { wsId });
  assert.deepEqual(
    (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? event.message : [])),
    [
      'Summarizing the conversation. New messages wait until the summary is done.',
      'The summary was cancelled. The conversation stays as it was.',
    ],
  );
  assert.deepEqual([await cuts(gateway), gateway.mainWorkstream().busy], [[], false]);
});

test('a daemon that stops during /compact does not wait for the summary', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `a${LONG}`, `b${LONG}`);
  gateway.puppet.turn(never());
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  await gateway.reaches(wsId, 'info', 1);
  await gateway.restart();
  assert.deepEqual([await cuts(gateway), (await shown(gateway)).length], [[], 4]);
  await compact(gateway);
  assert.equal((await cuts(gateway)).length, 1);
});

test('a process that dies when the summary is stored has one summary or none', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, `a${LONG}`, `b${LONG}`);
  let isDead = false;
  gateway.disk.diesAt = ({ events }) => {
    isDead ||= events?.events.some(({ type }) => type === 'compacted') ?? false;
    return isDead;
  };
  gateway.puppet.turn('S');
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  await turnsUntil(() => isDead, 'the end of the process');
  await gateway.crash();
  assert.deepEqual([await cuts(gateway), (await shown(gateway)).length], [[], 4]);
  await compact(gateway);
  assert.equal((await cuts(gateway)).length, 1);
});

test('killed at any write of a run that is summarized: there is one summary or none, and the run ends well', async () => {
  const found = new Set<number>();
  let isOver = false;
  for (let death = 1; !isOver; death += 1) {
    await using gateway = await wholeGateway();
    const wsId = await gateway.main();
    await say(gateway, `Never use tabs. ${LONG}`, LONG);
    const refusal = { about: 'window', maximum: 30_000 } as const;
    gateway.puppet.turn(new ProviderError('refused', 'too long', { refusal }));
    gateway.puppet.turn('S');
    let writes = 0;
    gateway.disk.diesAt = () => {
      writes += 1;
      return writes >= death;
    };
    const ends = async () => (await gateway.events(wsId)).filter((event) => isEnd(event)).length;
    void gateway.gateway.dispatch('workstream.send', { wsId, message: 'c' }, callerOf());
    await turnsUntil(async () => writes >= death || (await ends()) === 3, 'the end');
    isOver = writes < death;
    await gateway.crash();
    await gateway.isIdle(wsId);
    await say(gateway, 'd');
    const events = await gateway.events(wsId);
    const stored = await cuts(gateway);
    found.add(stored.length);
    assert.equal(events.filter(({ type }) => type === 'compacted').length, stored.length, `write ${death}`);
    assert.equal(events.filter(({ type }) => type === 'error').length, 0, `write ${death}`);
    assert.equal(await ends(), death === 1 ? 3 : 4, `write ${death}`);
    assert.match(sent(gateway).join(), /Never use tabs\./, `write ${death}`);
  }
  assert.deepEqual(found, new Set([0, 1]));
});

const isEnd = (event: StreamEvent) => event.type === 'ws_state' && event.run !== undefined;

test('after a refusal as too long, old outputs leave the context, and stay for people', async () => {
  let outputs = 0;
  await using gateway = await wholeGateway({
    async execute() {
      outputs += 1;
      return { output: `${outputs}${'x'.repeat(60_000)}`, outcome: 'done' };
    },
  });
  const wsId = await gateway.main();
  for (let turn = 0; turn < 4; turn += 1) gateway.puppet.turn(calling('look', {}, `call_${turn}`));
  gateway.puppet.turn(new ProviderError('refused', 'too long', { refusal: { about: 'window', maximum: 90_000 } }));
  await (await gateway.accept('look four times'))?.ended;
  const isLine = (text: string) => text.startsWith('[This output (60001 bytes) was taken out of the context');
  const lines = sent(gateway).filter(isLine);
  assert.equal(lines.length, 2);
  assert.equal((await gateway.events(wsId)).filter(({ type }) => type === 'error').length, 0);
  assert.deepEqual(
    (await cuts(gateway)).map(({ kind }) => kind),
    ['prune'],
  );
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.equal(messages.filter(({ content }) => content !== null && isLine(content)).length, 0);
  const { text } = await gateway.call('output.read', { wsId, callId: 'call_0', limit: 3 });
  assert.equal(text, '1xx');
});
