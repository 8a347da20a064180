import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openChecked } from '../support/clients/checked-client.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { type ChatRequest, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say, think } from '../support/model/scripted-steps.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Two parallel calls with thoughts for every message that says "look"; words for all others. */
function answerTo({ messages }: ChatRequest) {
  const last = messages.at(-1);
  if (last?.role !== 'user' || !String(last.content).includes('look')) return say('ok');
  const list = { name: 'list_directory', arguments: { path: '.' } };
  return [think('I look.'), callTools({ ...list, id: 'one' }, { ...list, id: 'two' })];
}

/** A daemon with a clock, whose model answers everything. */
async function openTalk() {
  const model = await startScriptedModel();
  model.onRequest(answerTo);
  const models = { scripted: { provider: 'openai-compatible', model: 'scripted', baseUrl: model.url } };
  const daemon = await startClockedDaemon({ models, defaultModel: 'scripted' }, { environment: {} });
  let client = await openChecked(daemon);
  const { wsId } = await client.ask('workstream.create', {});
  return {
    model,
    daemon,
    wsId,
    async send(message: string): Promise<void> {
      const { runId = '' } = await client.ask('workstream.send', { wsId, message });
      const { status } = await client.ask('agent.wait', { runId, timeoutMs: 60_000 });
      assert.equal(status, 'ok');
    },
    async restart(meanwhile?: () => void | Promise<void>): Promise<void> {
      await daemon.restart(meanwhile);
      client.socket.terminate();
      client = await openChecked(daemon);
    },
    history: () => client.ask('workstream.history', { wsId }),
    command: (command: string) => client.ask('workstream.command', { wsId, command }),
    file: (...names: string[]) => path.join(daemon.home, ...names),
    async [Symbol.asyncDispose]() {
      client.socket.terminate();
      await daemon[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

/** Everything before the messages, and the messages without the closing bracket. */
const textsOf = ({ messages, ...before }: ChatRequest) => ({
  before: JSON.stringify(before),
  messages: JSON.stringify(messages).slice(0, -1),
});

function assertExtended(requests: readonly ChatRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const [last, next] = [textsOf(requests[index - 1] ?? request), textsOf(request)];
    assert.equal(next.before, last.before, `request ${index}: its tools and settings`);
    assert.equal(next.messages.slice(0, last.messages.length), last.messages, `request ${index}: its messages`);
  }
}

test('every request extends the last one over midnights, changed instructions, an upgrade and restarts', async () => {
  await using talk = await openTalk();
  const { daemon, model } = talk;
  await talk.send('hello');
  // As if an earlier version, whose tool had another description, had begun the conversation.
  await talk.restart(() => {
    using database = new DatabaseSync(talk.file('headgate.db'));
    database.exec(
      `update prefixes set tools_json = replace(tools_json, '"description":"', '"description":"Formerly: ')`,
    );
  });
  const begun = model.requests.length;
  const before: Record<number, () => unknown> = {
    5: () => writeFile(talk.file('workspace', 'AGENTS.md'), 'Be brief.'),
    7: () => daemon.clock.jump(DAY_MS),
    12: () => writeFile(talk.file('workspace', 'AGENTS.md'), 'Be very brief.'),
    15: () => talk.restart(),
    20: () => rm(talk.file('workspace', 'AGENTS.md')),
    24: () => daemon.clock.jump(2 * DAY_MS),
  };
  for (let turn = 1; turn <= 30; turn += 1) {
    await before[turn]?.();
    await talk.send(turn % 3 === 0 ? `look ${turn}` : `word ${turn}`);
  }
  const requests = model.requests.slice(begun).map(({ body }) => body);
  assert.equal(requests.length, 40);
  assert.match(JSON.stringify(requests[0]?.tools), /"description":"Formerly: /);
  assertExtended(requests);
});

test('/tools accept is a cut: from the next message on, requests have the present tools, also after a restart', async () => {
  await using talk = await openTalk();
  await talk.send('look 1');
  const present = talk.model.requests.at(-1)?.body.tools;
  // As if an earlier version, without the tool `search`, had begun the conversation.
  await talk.restart(() => {
    using database = new DatabaseSync(talk.file('headgate.db'));
    const without = `select json_group_array(json(value)) from json_each(tools_json) where value ->> '$.name' <> 'search'`;
    database.exec(
      `update prefixes set tools_json = (${without}), told_json = json_remove(told_json, '$.tools.search')`,
    );
  });
  await talk.send('and now?');
  const before = talk.model.requests.at(-1)?.body;
  assert.match(JSON.stringify(before?.messages), /there is a new tool, search\. It can be used only after the person/);
  await talk.command('/tools');
  await talk.command('/tools accept');
  const { notes = [] } = await talk.history();
  assert.deepEqual(
    notes.slice(-2).map((note) => 'message' in note && note.message.split('\n').slice(-2)),
    [
      ['  search: new', 'With /tools accept, the model has the present tools from the next message on.'],
      ['The model has the present tools from the next message on. What has changed: search (new).'],
    ],
  );
  await talk.restart();
  const begun = talk.model.requests.length;
  for (const message of ['look 2', 'and then?', 'look 3']) await talk.send(message);
  const requests = talk.model.requests.slice(begun).map(({ body }) => body);
  assert.deepEqual([before?.tools?.length, requests[0]?.tools], [(present?.length ?? 0) - 1, present]);
  assert.doesNotMatch(JSON.stringify(requests[0]?.messages), /new tool/);
  assertExtended(requests);
});

test('what has changed is told once: to the model in a message, to people in a note', async () => {
  await using talk = await openTalk();
  await talk.send('hello');
  await writeFile(talk.file('workspace', 'AGENTS.md'), 'Be brief.');
  talk.daemon.clock.jump(DAY_MS);
  await talk.send('and now?');
  await talk.send('and then?');
  const told = `<environment>
This has changed:
- the date is now Wednesday, 2030-01-02 (UTC).
- there are new instructions of ${talk.file('workspace', 'AGENTS.md')}:
<instructions path="${talk.file('workspace', 'AGENTS.md')}">
Be brief.
</instructions>
</environment>`;
  const messages = talk.model.requests.at(-1)?.body.messages.slice(1);
  assert.deepEqual(messages, [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'ok' },
    { role: 'user', content: `and now?\n\n${told}` },
    { role: 'assistant', content: 'ok' },
    { role: 'user', content: 'and then?' },
  ]);
  const { messages: shown, notes } = await talk.history();
  assert.deepEqual(
    shown.map(({ content }) => content),
    ['hello', 'ok', 'and now?', 'ok', 'and then?', 'ok'],
  );
  assert.deepEqual(
    notes?.map((note) => 'message' in note && note.message),
    [
      `The model was told: the date is now Wednesday, 2030-01-02 (UTC); there are instructions in ${talk.file('workspace', 'AGENTS.md')}.`,
    ],
  );
});

test('after /clear, the conversation begins with what holds then', async () => {
  await using talk = await openTalk();
  await talk.send('hello');
  await writeFile(talk.file('AGENTS.md'), 'Answer in German.');
  talk.daemon.clock.jump(DAY_MS);
  await talk.send('and now?');
  await talk.command('/clear');
  await talk.send('hello again');
  const { messages } = talk.model.requests.at(-1)?.body ?? { messages: [] };
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user'],
  );
  assert.match(String(messages[0]?.content), /- Date: Wednesday, 2030-01-02 \(UTC\)\.[\s\S]*Answer in German\./);
});
