import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { Arrival } from '../consents/arrival.ts';
import { createFakeClient } from '../fake-client.ts';
import { Nodes } from '../nodes/nodes.ts';
import { Inbox } from './inbox.ts';
import { DRAWN_AT_ONCE, goToAsked, readAsked, toEntries } from './inbox-panel.ts';
import { OtherCount } from './other-count.ts';
import { WaitingThings } from './waiting-things.ts';

const asked = (index: number) => ({
  ...{ approvalId: `apr_${index}`, wsId: 'ws', sessionKey: 's', kind: 'tools' as const, items: [] },
  ...{ askedAtMs: index, expiresAtMs: 60_000 },
});

const MACHINE = { requestId: 'r1', nodeId: 'the den', ts: 90, isRepair: false };

/** A notification led to the inbox, which has so many questions. */
function setUp({ id, count }: { id: string; count: number }) {
  const fragment = `inbox${id && `=${encodeURIComponent(id)}`}`;
  const empty = { read: () => '', clear: () => undefined };
  const arrival = new Arrival({ fragment: { read: () => fragment, clear: () => undefined }, search: empty });
  arrival.read();
  const fake = createFakeClient();
  const questions = Array.from({ length: count }, (_, index) => asked(index));
  fake.answer('approval.list', () => ({ approvals: questions }));
  const inbox = new Inbox({ client: fake.client, now: () => 0, mayDecide: () => true });
  const { client } = fake;
  const held = signal(true);
  const rights = { decide: held, releaseMemories: held, manageChannels: held, changeNodes: held };
  const nodes = new Nodes({ client, mayDecide: () => true, now: () => 0 });
  const things = new WaitingThings({ client, nodes, others: new OtherCount({ client, rights }) }, rights);
  fake.answer('memory.quarantine.list', () => ({ memories: [], total: 0 }));
  fake.answer('channel.sender.list', () => ({ senders: [] }));
  fake.answer('mcp.consent.pending', () => ({ pending: [] }));
  fake.answer('node.pair.list', () => ({ ts: 0, pending: [MACHINE], paired: [] }));
  const drawn = signal(DRAWN_AT_ONCE);
  const focused: string[] = [];
  const draw = () => {
    const entries = toEntries(inbox.waiting.value ?? [], things.all.value, undefined);
    const cards = entries.slice(0, drawn.value).map(({ key }) => key);
    const focus = (approvalId: string) => cards.includes(approvalId) && focused.push(approvalId) > 0;
    goToAsked({ arrival, drawn, focus }, entries);
  };
  return { ...fake, arrival, inbox, things, drawn, focused, draw, questions };
}

test('a question far below is drawn, and then has the focus, once', async () => {
  const { arrival, inbox, drawn, focused, draw } = setUp({ id: 'apr_34', count: 40 });
  draw(); // nothing is read yet
  await inbox.read();
  draw();
  assert.deepEqual([drawn.value, focused], [35, []]);
  draw();
  draw();
  assert.deepEqual([drawn.value, focused, arrival.question.value], [35, ['apr_34'], undefined]);
});

test('a list that is older than the notification does not end the way to its question', async () => {
  const { arrival, inbox, things, focused, draw, questions } = setUp({ id: 'apr_2', count: 2 });
  await inbox.read();
  questions.push(asked(2));
  draw();
  assert.deepEqual([focused, arrival.question.value], [[], 'apr_2']);
  const first = readAsked(arrival, { inbox, things });
  await Promise.all([first, inbox.read()]); // the view that opens reads, too
  draw();
  assert.deepEqual(focused, ['apr_2']);
});

test('the way to a question ends when it does not wait any more, but not because a read failed', async () => {
  const { arrival, inbox, things, answer } = setUp({ id: 'apr_gone', count: 2 });
  answer('approval.list', () => Promise.reject(new Error('no answer')));
  await readAsked(arrival, { inbox, things });
  assert.equal(arrival.question.value, 'apr_gone');
  answer('approval.list', () => ({ approvals: [asked(1)] }));
  await readAsked(arrival, { inbox, things });
  assert.equal(arrival.question.value, undefined);
});

test('a notification leads to a machine, also if its list is read last; when it has gone, the way ends', async () => {
  const { arrival, inbox, things, focused, draw, answer } = setUp({ id: 'machine the den', count: 2 });
  const listed = Promise.withResolvers<unknown>();
  answer('node.pair.list', () => listed.promise);
  const asked = readAsked(arrival, { inbox, things });
  await inbox.read();
  draw();
  assert.deepEqual([focused, arrival.question.value], [[], 'machine the den']);
  listed.resolve({ ts: 0, pending: [MACHINE], paired: [] });
  await asked;
  draw();
  assert.deepEqual([focused, arrival.question.value], [['machine the den'], undefined]);
  const late = setUp({ id: 'machine another', count: 0 });
  await readAsked(late.arrival, late);
  assert.equal(late.arrival.question.value, undefined);
});

test('the way to a machine does not end because the list of machines could not be read', async () => {
  const { arrival, inbox, things, answer } = setUp({ id: 'machine the den', count: 2 });
  answer('node.pair.list', () => Promise.reject(new Error('no answer')));
  await readAsked(arrival, { inbox, things });
  assert.equal(arrival.question.value, 'machine the den');
});

test('an address that was cut or made up leads to the inbox, or nowhere', () => {
  for (const [fragment, question] of [
    ['inbox=%E0%A4', ''],
    ['inbox=<b>', undefined],
    ['inboxes', undefined],
  ] as const) {
    const empty = { read: () => '', clear: () => undefined };
    const arrival = new Arrival({ fragment: { read: () => fragment, clear: () => undefined }, search: empty });
    arrival.read();
    assert.equal(arrival.question.value, question, fragment);
  }
});

test('a notification without a question only opens the inbox', () => {
  const { arrival, drawn, focused, draw } = setUp({ id: '', count: 0 });
  assert.equal(arrival.place, 'inbox');
  draw();
  assert.deepEqual([drawn.value, focused, arrival.question.value], [DRAWN_AT_ONCE, [], undefined]);
});
