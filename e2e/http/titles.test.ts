import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ env: { HEADGATE_SKIP_TITLES: '' } });

const detail = async (wsId: string) => (await daemon.get(`/v1/api/workstreams/${wsId}`)).body;
const refresh = async (wsId: string) => {
  const { status, body } = await daemon.post(`/v1/api/workstreams/${wsId}/refresh-title`, {});
  return { status, body };
};

/** Answers requests for titles with what the conversation is to be called. */
const titles = new Map<string, string>();
model.onRequest(({ messages }) => {
  const [system, asked] = messages;
  if (!String(system?.content).startsWith('You name conversations')) return undefined;
  const title = [...titles].find(([words]) => JSON.stringify(asked?.content).includes(words))?.[1];
  return title === undefined ? fail(400) : say(title);
});

test('The model must write a title after the first answer of a conversation without a name, and streams must carry it as `ws_rename`', async () => {
  await using talk = await openConversation(daemon);
  titles.set('how do I sort', 'Title: "Sorting lists"\nwith more');
  model.when('how do I sort', say('with a comparison'));
  model.when('and in reverse', say('the other way round'));
  await (await talk.ask('how do I sort')).answer;
  const { type: _, ...renamed } = await talk.until('ws_rename');
  assert.deepEqual(renamed, { ws_id: talk.wsId, name: 'Sorting lists' });
  assert.equal((await detail(talk.wsId)).title, 'Sorting lists');
  const requests = model.requests.length;
  await (await talk.ask('and in reverse')).answer;
  assert.equal(model.requests.length, requests + 1, 'a later answer asks for no title');
  const { body } = await daemon.get('/v1/api/workstreams/saved');
  assert.equal(body.workstreams[0].title, 'Sorting lists');
  await daemon.restart();
  assert.equal((await detail(talk.wsId)).title, 'Sorting lists');
  await talk.reconnect();
});

test('A conversation with a name must keep it, and no title must be asked for', async () => {
  await using talk = await openConversation(daemon, { name: 'mine' });
  model.when('named already', say('fine'));
  const requests = model.requests.length;
  await (await talk.ask('named already')).answer;
  model.when('another turn', say('fine too'));
  await (await talk.ask('another turn')).answer;
  assert.equal(model.requests.length, requests + 2);
  const { name, title } = await detail(talk.wsId);
  assert.deepEqual([name, title], ['mine', 'named already']);
});

test('`refresh-title` must write a new title, or say why none was written and change nothing', async () => {
  await using talk = await openConversation(daemon, { name: 'kept' });
  const empty = { error: 'There is nothing to name yet: the conversation is empty' };
  assert.deepEqual(await refresh(talk.wsId), { status: 400, body: empty });
  model.when('about gardens', say('they grow'));
  await (await talk.ask('about gardens')).answer;
  titles.set('about gardens', 'Gardens');
  assert.deepEqual(await refresh(talk.wsId), { status: 200, body: { status: 'ok', title: 'Gardens' } });
  titles.delete('about gardens');
  const { status, body } = await refresh(talk.wsId);
  assert.equal(status, 503);
  assert.match(body.error, /^No title was written: /);
  const { name, title } = await detail(talk.wsId);
  assert.deepEqual([name, title], ['kept', 'Gardens']);
  assert.equal((await refresh('0'.repeat(32))).status, 404);
});

test('`title` must rename a workstream, also a stored one', async () => {
  await using talk = await openConversation(daemon, { name: 'old name' });
  model.when('says something', say('fine'));
  await (await talk.ask('says something')).answer;
  const { wsId } = talk;
  const rename = async (title: string) => (await daemon.post(`/v1/api/workstreams/${wsId}/title`, { title })).body;
  const rowIn = async (list: string) => {
    const { workstreams } = (await daemon.get(`/v1/api/${list}`)).body;
    return workstreams.find(({ ws_id }: { ws_id: string }) => ws_id === wsId);
  };
  assert.deepEqual(await rename(' New name '), { status: 'ok', title: 'New name' });
  for (const { name, title } of [await detail(wsId), await rowIn('dashboard'), await rowIn('workstreams')])
    assert.deepEqual([name, title], ['New name', 'New name']);
  await daemon.post(`/v1/api/workstreams/${wsId}/close`, {});
  assert.deepEqual(await rename('Stored name'), { status: 'ok', title: 'Stored name' });
  const { name, title, alias } = await rowIn('workstreams/saved');
  assert.deepEqual([name, title, alias], ['Stored name', 'Stored name', 'Stored name']);
});
