import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sight } from '../../agent/prefix/surroundings.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import { DAEMON } from '../sharing/perception.ts';
import { lookAndTouch } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A toolbox whose tools are described in other words after `reword`, as after an update. */
function changingToolbox() {
  const tools = lookAndTouch(undefined, new AbortController().signal);
  let note = '';
  const toolbox: Toolbox = {
    definitions: () => tools.definitions().map((tool) => ({ ...tool, description: `${tool.description}${note}` })),
    prepare: tools.prepare,
  };
  const reword = () => {
    note = ' Reworded.';
  };
  return { toolbox, reword };
}

async function send(gateway: WholeGateway, message: string): Promise<void> {
  const handle = await gateway.accept(message);
  assert.equal((await handle?.ended)?.status, 'ok');
}

/** What every request of a conversation must share, and its messages. */
const requestsOf = ({ puppet }: WholeGateway) =>
  puppet.requests.map(({ system, tools, conversation, messages }) => ({
    beginning: JSON.stringify({ system, tools, conversation }),
    messages: messages.map((message) => JSON.stringify(message)),
  }));

test('requests extend each other over days, restarts, crashes, an update and new instructions', async () => {
  const { toolbox, reword } = changingToolbox();
  const sight: Sight = { date: '2026-11-23', zone: 'UTC', instructions: { files: [], untrusted: [] } };
  const surroundings = { look: async () => structuredClone(sight) };
  await using gateway = await wholeGateway({ toolbox, surroundings });
  const before: Record<number, () => unknown> = {
    2: () => Object.assign(sight, { date: '2026-11-24' }),
    4: () => {
      reword();
      return gateway.restart();
    },
    6: () => sight.instructions.files.push({ path: '/work/AGENTS.md', text: 'Be brief.', digest: '1' }),
    8: () => gateway.crash({ downMs: DAY_MS }),
  };
  for (let turn = 0; turn < 12; turn += 1) {
    if (turn % 3 === 0) gateway.puppet.turn('I look.', calling('look', {}, `call_${turn}`));
    await before[turn]?.();
    await send(gateway, `message ${turn}`);
  }
  const requests = requestsOf(gateway);
  assert.equal(requests.length, 16);
  for (const [index, request] of requests.entries()) {
    const last = requests[index - 1] ?? request;
    assert.equal(request.beginning, last.beginning, `request ${index}`);
    assert.deepEqual(request.messages.slice(0, last.messages.length), last.messages, `request ${index}`);
  }
});

test('people see a note where the model gets a message; histories do not show it', async () => {
  await using gateway = await wholeGateway();
  await send(gateway, 'one');
  gateway.clock.jump(DAY_MS);
  await send(gateway, 'two');
  const wsId = await gateway.main();
  const { messages, notes } = await gateway.call('workstream.history', { wsId });
  const chat = await gateway.call('chat.history', { sessionKey: 'main' });
  const message = 'The model was told: the date is now Friday, 1970-01-02 (Europe/Berlin).';
  assert.deepEqual(
    [messages.map(({ role }) => role), chat.messages.map(({ role }) => role), notes],
    [
      ['user', 'assistant', 'user', 'assistant'],
      ['user', 'assistant', 'user', 'assistant'],
      [{ after_seq: 4, created_ms: gateway.clock.now(), kind: 'info', message }],
    ],
  );
});

test('/clear begins a new prefix', async () => {
  await using gateway = await wholeGateway();
  await send(gateway, 'one');
  gateway.clock.jump(DAY_MS);
  await gateway.call('workstream.command', { wsId: await gateway.main(), command: '/clear' });
  await send(gateway, 'two');
  const [first, second] = gateway.puppet.requests;
  assert.notEqual(second?.conversation, first?.conversation);
  assert.match(second?.system ?? '', /Date: Friday, 1970-01-02/);
  assert.equal(second?.messages.length, 1);
});

test('a run keeps its model; a switch takes effect with the next one', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('touch'));
  const handle = await gateway.accept('go');
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.update', { wsId, model: 'other' });
  await gateway.call('workstream.approve', { wsId, approved: true });
  await handle?.ended;
  await send(gateway, 'again');
  const told = gateway.puppet.requests.map(({ messages }) =>
    messages.some(({ role, ...rest }) => 'environment' in rest),
  );
  assert.deepEqual(told, [false, false, true]);
});

test('the failure of a run marks the message of the person, not what the model was told after it', async () => {
  await using gateway = await wholeGateway();
  await send(gateway, 'one');
  gateway.clock.jump(DAY_MS);
  gateway.puppet.turn(new Error('broken'));
  const handle = await gateway.accept('two');
  await handle?.ended;
  const { messages } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  assert.deepEqual(
    messages.map(({ content, failed }) => [content, failed?.code]),
    [
      ['one', undefined],
      ['ok', undefined],
      ['two', 'internal'],
    ],
  );
});

test('deleting a workstream removes its prefix', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  await send(gateway, 'to main');
  const made = gateway.parts.workstreams.find(wsId, DAEMON);
  const handle = await gateway.accept('to be deleted', made ? { to: made } : {});
  await handle?.ended;
  await gateway.call('sessions.delete', { key: wsId });
  const rows = await gateway.store.db.selectFrom('prefixes').select('ws_id').execute();
  assert.deepEqual(rows, [{ ws_id: await gateway.main() }]);
});

test('after /compact, requests have another beginning, also after a crash', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  for (const message of ['x'.repeat(3_000), 'y'.repeat(3_000), 'and?']) await send(gateway, message);
  const [first] = requestsOf(gateway);
  gateway.puppet.turn('They talked.');
  await gateway.call('workstream.command', { wsId, command: '/compact' });
  await gateway.reaches(wsId, 'compacted');
  await gateway.crash();
  await send(gateway, 'go on');
  await send(gateway, 'and on');
  const [next, last] = requestsOf(gateway).slice(-2);
  assert.notEqual(next?.beginning, first?.beginning);
  assert.equal(last?.beginning, next?.beginning);
});

test('a page of the history is not empty while older messages exist, even where only the model was told something', async () => {
  const sight: Sight = { date: '2026-11-23', zone: 'UTC', instructions: { files: [], untrusted: [] } };
  const surroundings = { look: async () => structuredClone(sight) };
  await using gateway = await wholeGateway({ surroundings });
  const wsId = await gateway.main();
  await send(gateway, 'a');
  sight.date = '2026-11-24';
  await send(gateway, 'b');
  const seqs: number[] = [];
  for (let before: number | undefined; ; ) {
    const page = await gateway.call('workstream.history', { wsId, limit: 1, ...(before !== undefined && { before }) });
    const [first] = page.messages;
    seqs.unshift(...page.messages.map(({ seq }) => seq));
    if (!page.truncated) break;
    before = first?.seq ?? assert.fail('an empty page');
  }
  assert.deepEqual(seqs, [1, 2, 3, 5]);
});
