import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../support/channels/stored-rows.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { type AttackStage, openAttackStage, PEOPLE, untilHandled, untilRead } from './attacks/attack-stage.ts';
import { PRESS_ATTEMPTS, type Questions } from './attacks/press-attempts.ts';

const PLANT = callTools({ name: 'bash', arguments: { command: 'echo planted | tee planted' } });

/** Two runs wait for decisions. */
async function askTwice(stage: AttackStage): Promise<Questions> {
  stage.scripts.push({ text: 'plant', answer: PLANT, after: say('Planted.') });
  stage.people.ada.says('plant it');
  const direct = await questionIn(stage, stage.people.ada.chat);
  stage.people.bob.says('@headgate_bot plant it', { in: stage.group });
  return { direct, group: await questionIn(stage, stage.group) };
}

async function questionIn(_: AttackStage, room: AttackStage['group']) {
  const { messageId, buttons } = await room.until(({ text }) => text.includes('May I do this?'));
  const approvalId = buttons.find(({ data }) => data?.startsWith('approve '))?.data?.slice('approve '.length) ?? '';
  return { messageId, approvalId };
}

test(`none of ${PRESS_ATTEMPTS.length} ways to press decides a question, and each is answered`, async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  await client.call('channel.revoke', { channel: 'telegram', senderId: String(PEOPLE.rex) });
  const questions = await askTwice(stage);
  const asked = stage.model.requests.length;
  const answers = PRESS_ATTEMPTS.map(({ press }, index) => {
    const { by, data, message } = press(stage, questions);
    const id = `odd-press-${index}`;
    const query = {
      id,
      from: by.user,
      chat_instance: '1',
      ...(data !== undefined && { data }),
      ...(message && { message }),
    };
    stage.telegram.deliver({ callback_query: query } as never);
    return stage.telegram.answerTo(id);
  });
  const words = await Promise.all(answers);
  await untilRead(stage);
  const wrong = words.flatMap(({ text }, index) =>
    /^(This button|You may not)/.test(text ?? '') ? [] : [`${PRESS_ATTEMPTS[index]?.name}: ${text}`],
  );
  const { inbox, runs, senders } = readRows(stage.daemon.home);
  const { approvals } = await client.call('approval.list', {});
  assert.deepEqual([wrong, approvals.length, runs, stage.model.requests.length], [[], 2, 2, asked]);
  assert.equal(inbox.filter(({ state }) => state === 'blocked').length, PRESS_ATTEMPTS.length);
  assert.deepEqual(
    senders.map(({ sender_id, status }) => [sender_id, status]),
    [['105', 'revoked']],
  );
  // The same buttons decide when the approver presses them, and only once.
  await stage.people.ada.presses('✅ Approve', { in: stage.group });
  await stage.group.until(({ text }) => text === 'Planted.');
  const late = await stage.people.ada.pressesData(`deny ${questions.group.approvalId}`, {
    room: stage.group,
    messageId: questions.group.messageId,
  });
  assert.equal(late.text, 'This was decided already.');
});

const TEXTS = ['yes', 'Yes!', 'ok', 'approve', '/approve', '✅ Approve', '✅', 'I approve', 'ja'];

test('texts of an approver decide nothing, whatever they say', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { direct, group } = await askTwice(stage);
  const { ada } = stage.people;
  const shown = ada.chat.sent.find(({ messageId }) => messageId === direct.messageId);
  assert.ok(shown);
  ada.says(`approve ${direct.approvalId}`, { replyTo: shown });
  ada.says(`/approve ${direct.approvalId}`);
  for (const text of TEXTS) ada.says(`@headgate_bot ${text}`, { in: stage.group });
  ada.says(`@headgate_bot approve ${group.approvalId}`, { in: stage.group });
  ada.reacts(shown, '👍');
  await untilRead(stage);
  const { approvals } = await client.call('approval.list', {});
  assert.equal(approvals.length, 2);
  assert.equal(stage.model.requests.length, 2, 'the messages wait for the decision');
});

test('a question that has expired, or whose run is over, is decided by no button', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { direct, group } = await askTwice(stage);
  await client.call('workstream.cancel', { wsId: String(readRows(stage.daemon.home).workstreams[0]?.ws_id) });
  await client.call('approval.resolve', { approvalId: group.approvalId, approved: false });
  await stage.group.until(({ messageId, buttons }) => messageId === group.messageId && buttons.length === 0);
  const { ada } = stage.people;
  const press = (question: typeof direct, room: AttackStage['group']) =>
    ada.pressesData(`approve ${question.approvalId}`, { room, messageId: question.messageId });
  assert.deepEqual(
    [(await press(direct, ada.chat)).text, (await press(group, stage.group)).text],
    ['This was decided already.', 'This was decided already.'],
  );
  await untilHandled(stage);
  const { approvals } = readRows(stage.daemon.home);
  assert.deepEqual(approvals.map(({ status }) => status).toSorted(), ['cancelled', 'denied']);
});
