import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../support/channels/stored-rows.ts';
import { ADA, setStage } from '../support/channels/telegram-stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

test('a message in a direct chat starts a run, and its answer is sent with its id in the ledger', async () => {
  await using stage = await setStage();
  stage.model.when('ping', say('**pong**'));
  stage.ada.says('ping');
  const answer = await stage.ada.chat.until(({ text }) => text === 'pong');
  await stage.daemon.stop();
  const rows = readRows(stage.daemon.home);
  assert.deepEqual(
    rows.chunks.map(({ state, provider_id }) => ({ state, provider_id })),
    [{ state: 'accepted', provider_id: String(answer.messageId) }],
  );
  assert.deepEqual(
    rows.inbox.map(({ state, body_json }) => ({ state, body_json })),
    [{ state: 'accepted', body_json: null }],
  );
  assert.deepEqual(
    rows.workstreams.map(({ session_key, visibility, owner_id }) => ({ session_key, visibility, owner_id })),
    [{ session_key: 'telegram:dm:101', visibility: 'private', owner_id: '' }],
  );
});

test('a bot to which nobody writes is connected as soon as Telegram has answered', async () => {
  await using stage = await setStage();
  await stage.telegram.call('getUpdates', 2); // it waits for messages; the first one has been answered
  const client = await stage.daemon.client();
  const [row] = (await client.call('channel.list', {})).channels;
  assert.deepEqual([row?.state, row?.bot], ['polling', 'headgate_bot']);
});

test('messages that come while the daemon is killed are answered once each, in order', async () => {
  await using stage = await setStage();
  const { ada, daemon, model, telegram } = stage;
  const held = stall();
  model.when('one', [say('a'), held]);
  ada.says('one');
  await held.reached;
  ada.says('two');
  await telegram.untilAcknowledged();
  await daemon.kill9();
  ada.says('three');
  model.when('one', say('first'));
  model.when('two', say('second'));
  model.when('three', say('third'));
  await daemon.restart();
  await ada.chat.until(({ text }) => text === 'third');
  assert.deepEqual(ada.chat.texts, ['first', 'second', 'third']);
  await daemon.stop();
  const { inbox, runs } = readRows(daemon.home);
  assert.deepEqual([inbox.map(({ state }) => state), runs], [['accepted', 'accepted', 'accepted'], 3]);
});

test('a stranger gets a code and no answer, and is answered after the operator has approved the code', async () => {
  await using stage = await setStage();
  const { eve, daemon, model } = stage;
  model.when('let me in', say('never'));
  eve.says('let me in');
  const told = await eve.chat.next();
  const [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec(told.text) ?? [];
  eve.says(code); // a code counts only where the operator types it
  await stage.telegram.untilAcknowledged();
  assert.equal(model.requests.length, 0);
  const client = await daemon.client();
  assert.deepEqual(await client.call('channel.pair', { channel: 'telegram', code: code.toLowerCase() }), {
    channel: 'telegram',
    senderId: '666',
    name: 'Eve',
  });
  model.when('hello', say('Welcome.'));
  eve.says('hello');
  await eve.chat.until(({ text }) => text === 'Welcome.');
  await client.call('channel.revoke', { channel: 'telegram', senderId: '666' });
  eve.says('hello again');
  await stage.telegram.untilAcknowledged();
  assert.deepEqual(eve.chat.texts.slice(1), ['Welcome.']);
});

test('only an approver decides with the buttons, and the question then shows the decision', async () => {
  await using stage = await setStage({ settings: { groups: { '-1000000000001': { allowFrom: [ADA, 102] } } } });
  const { ada, model } = stage;
  const call = callTools({ name: 'bash', arguments: { command: 'echo planted | tee planted' } });
  model.when('plant', call, say('Planted.'));
  ada.says('plant');
  const question = await ada.chat.until(({ text }) => text.includes('May I do this?'));
  ada.says('yes');
  await stage.telegram.untilAcknowledged();
  assert.equal(model.requests.length, 1, 'words decide nothing');
  await ada.presses('✅ Approve', { message: question });
  await ada.chat.until(({ text }) => text === 'Planted.');
  const [shown] = ada.chat.sent.filter(({ messageId }) => messageId === question.messageId);
  assert.match(shown?.text ?? '', /Approved by telegram:101/);
});

test('Telegram is told once which commands the bot knows, and again only if it knows others', async () => {
  await using stage = await setStage();
  const { telegram, daemon } = stage;
  await telegram.call('setMyCommands');
  assert.deepEqual(
    telegram.commands.map(({ command }) => command),
    ['stop', 'new', 'clear', 'model', 'effort', 'compact', 'budget', 'background', 'watches', 'tools', 'help'],
  );
  await daemon.stop();
  await daemon.restart();
  await telegram.call('getMyCommands', 2);
  stage.model.when('ping', say('pong'));
  stage.ada.says('ping');
  await stage.ada.chat.until(({ text }) => text === 'pong');
  assert.equal(telegram.callsOf('setMyCommands').length, 1);
});
