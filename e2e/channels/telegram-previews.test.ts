import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../support/channels/stored-rows.ts';
import { TELEGRAM_PACE } from '../support/channels/telegram/send-limits.ts';
import { setStage } from '../support/channels/telegram-stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

test('an answer in progress is one message that grows, and becomes the answer after the daemon was killed', async () => {
  await using stage = await setStage({ settings: { streaming: 'direct', ackReaction: '👀' }, pace: TELEGRAM_PACE });
  const { ada, daemon, model } = stage;
  const [first, second] = [stall(), stall()];
  model.when('tell me', [say('Once upon'), first, say(' a time'), second]);
  const asked = ada.says('tell me');
  const preview = await ada.chat.until(({ text }) => text === 'Once upon');
  first.release();
  await ada.chat.until(({ text }) => text === 'Once upon a time');
  assert.deepEqual(ada.chat.reactions.get(asked.message_id), ['👀']);
  await daemon.kill9();
  model.when('tell me', say('Once upon a time, **the end**.'));
  await daemon.restart();
  await ada.chat.until(({ text }) => text === 'Once upon a time, the end.');
  assert.deepEqual(
    ada.chat.everSent.map(({ messageId, text }) => [messageId, text]),
    [[preview.messageId, 'Once upon a time, the end.']],
  );
  await daemon.stop();
  assert.deepEqual(
    readRows(daemon.home).chunks.map(({ message_id: id, state, provider_id }) => [
      String(id).split(':')[0],
      state,
      provider_id,
    ]),
    [['answer', 'accepted', String(preview.messageId)]],
  );
});
