import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const get = async (route: string) => (await daemon.get(`/v1/api/${route}`)).body;

test('A search must find messages by their words in open and saved workstreams, only in those that the caller sees and that the query names', async () => {
  await using talk = await openConversation(daemon);
  model.when('a kestrel over the harbour', say('a bird'));
  await (await talk.ask('a kestrel over the harbour')).answer;
  await daemon.post('/v1/api/workstreams/close', { ws_id: talk.wsId });
  const { messages, incomplete } = await get('workstreams/find?query=HARBOUR%20kestr');
  const [{ created, ...found }, ...others] = messages;
  const text = 'a kestrel over the harbour';
  assert.deepEqual(found, { ws_id: talk.wsId, name: text, seq: 1, role: 'user', excerpt: text });
  assert.deepEqual([others, incomplete], [[], false]);
  assert.match(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
  for (const other of ['workdir=/nowhere', 'model=none', 'user_id=nobody', 'until=2020-01-01T00:00:00Z'])
    assert.deepEqual((await get(`workstreams/find?query=harbour&${other}`)).messages, [], other);
  assert.equal((await get('workstreams/find?query=harbour&user_id=&since=2020-01-01T00:00:00Z')).messages.length, 1);
  assert.match((await get('workstreams/find?query=harbour&since=soon')).error, /^since: /);
  const { stdout } = await runHeadgate(['find', 'harbour', 'kestrel'], { HEADGATE_HOME: daemon.home });
  const [named = '', message = ''] = stdout.split('\n');
  assert.match(named, new RegExp(`^${talk.wsId}  \\d{4}-\\d\\d-\\d\\d  .*${text}$`));
  assert.match(message, new RegExp(`^${talk.wsId}  \\d{4}-\\d\\d-\\d\\d  .* #1 user: ${text}$`));
});
