import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { putChat } from '../inbox/chat-rows.ts';
import { revokeSender } from '../inbox/sender-rows.ts';
import { type ChunkNews, insertChunks, readChunks, updateChunk } from '../ledger/chunk-rows.ts';
import { messageOfQuestion } from '../question-text.ts';
import type { ChatSettings } from './chat-settings.ts';
import { type PressedButton, pressButton } from './press-button.ts';

const ADA = '7';
const BOB = '8';
const SETTINGS: ChatSettings = {
  ...{ dmPolicy: 'allowlist', allowFrom: new Set([ADA, BOB]), approvers: new Set([ADA, '9']) },
  groups: new Map([['-5', { allowFrom: new Set([ADA, BOB]), requireMention: true }]]),
  ...{ session: 'chat', ambiguous: 'once' },
};
const PRESSED: PressedButton = {
  ...{ channel: 'telegram', senderId: ADA, chatId: ADA, chatKind: 'dm', messageId: '55', data: 'approve apr_1' },
};

/** The question apr_1 was asked in message 55 of Ada's chat, or of another one. */
async function setUp(to = ADA, news: ChunkNews = { state: 'accepted', providerId: '55' }) {
  const store = await tempStore();
  const messageId = messageOfQuestion('apr_1');
  const asked = insertChunks({ messageId, channel: 'telegram', to }, [{ formatted: 'May I?', plain: 'May I?' }], 1);
  await store.commit({ statements: asked });
  for (const chunk of await readChunks(store, messageId))
    await store.commit({ statements: [updateChunk(chunk, news, 2)] });
  const decided: string[] = [];
  const audited: object[] = [];
  let failure: Error | undefined;
  const press = (button: Partial<PressedButton>, { isSetUp = true } = {}) =>
    pressButton(
      { ...PRESSED, ...button },
      {
        settings: () => (isSetUp ? SETTINGS : undefined),
        store,
        users: { boundsOf: () => undefined },
        approvals: {
          async resolve(id, { approved, by }, { also }) {
            if (failure) throw failure;
            also('ws', []);
            decided.push(`${id} ${approved} ${by.kind === 'principal' ? by.id : ''}`);
          },
        },
        audit: {
          begin: (_, { caller }) => ({
            audited(detail) {
              audited.push({ ...detail, by: caller.principal?.id });
              return [];
            },
            succeeded: () => undefined,
            failed: () => undefined,
          }),
        },
      },
    );
  return {
    ...{ store, press, decided, audited },
    fail(error: Error) {
      failure = error;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test('an approver decides with the buttons, and the audit trail names the person', async () => {
  await using stage = await setUp();
  assert.deepEqual(await stage.press({}), { state: 'answered', hasDecided: true, words: 'Approved' });
  assert.deepEqual(await stage.press({ data: 'deny apr_1' }), { state: 'answered', hasDecided: true, words: 'Denied' });
  assert.deepEqual(stage.decided, ['apr_1 true telegram:7', 'apr_1 false telegram:7']);
  assert.deepEqual(stage.audited[0], {
    ...{ id: 'apr_1', wsId: 'ws', approved: true, always: false, by: 'telegram:7' },
  });
});

test('who may not decide, or may not write, decides nothing', async () => {
  await using stage = await setUp();
  const refused = { state: 'blocked', hasDecided: false, words: 'You may not decide this.' };
  assert.deepEqual(await stage.press({ senderId: BOB }), refused, 'no approver');
  assert.deepEqual(await stage.press({ senderId: '9' }), refused, 'an approver who may not write');
  assert.deepEqual(await stage.press({ chatKind: 'group' }), refused, 'a group that is not in groups');
  await stage.store.commit({
    statements: [revokeSender({ channel: 'telegram', senderId: ADA }, { by: 'operator', nowMs: 3 })],
  });
  assert.deepEqual(await stage.press({}), refused, 'a person who was revoked');
  assert.deepEqual(stage.decided, []);
});

test('data that no card has, and a message that did not ask this question, mean nothing', async () => {
  await using stage = await setUp();
  const nothing = { state: 'blocked', hasDecided: false, words: 'This button means nothing any more.' };
  for (const button of [
    ...['', 'approve', 'approve apr_1 now', 'always apr_1', 'approve ../apr_1', 'approve apr_2'].map((data) => ({
      data,
    })),
    ...[{ messageId: '56' }, { chatId: BOB }, { channel: 'whatsapp' }],
  ])
    assert.deepEqual(await stage.press(button), nothing, JSON.stringify(button));
  assert.deepEqual(await stage.press({}, { isSetUp: false }), nothing);
  assert.deepEqual(stage.decided, []);
});

test('a question that was decided meanwhile is named as such, and other failures are tried again', async () => {
  await using stage = await setUp();
  for (const code of ['CONFLICT', 'NOT_FOUND'] as const) {
    stage.fail(new GatewayError(code, 'not waiting'));
    assert.deepEqual(await stage.press({}), {
      state: 'answered',
      hasDecided: false,
      words: 'This was decided already.',
    });
  }
  stage.fail(new GatewayError('UNAVAILABLE', 'the disk is full'));
  await assert.rejects(stage.press({}), { code: 'UNAVAILABLE' });
});

test('in a group that has another number now, the same people decide as before', async () => {
  await using stage = await setUp('-1007:9');
  const moved = { channel: 'telegram', chat: '-1007', kind: 'group' as const, session_key: 'telegram:group:-5' };
  const times = { last_in_ms: null, last_out_ms: null, created_ms: 1 };
  await stage.store.commit({
    statements: [putChat({ ...moved, ...times, ws_id: 'w', title: '', last_sender: ADA, owes_notice: 0 })],
  });
  const group = { chatId: '-1007', chatKind: 'group' as const };
  assert.equal((await stage.press({ ...group, senderId: BOB })).words, 'You may not decide this.');
  assert.equal((await stage.press({ ...group, senderId: '9' })).words, 'You may not decide this.');
  assert.equal((await stage.press(group)).words, 'Approved');
  assert.deepEqual(stage.decided, ['apr_1 true telegram:7']);
});

test('the buttons of a question that arrived although nobody knew it decide, too', async () => {
  await using stage = await setUp(ADA, { state: 'ambiguous', reason: 'no answer' });
  assert.equal((await stage.press({ chatId: BOB })).words, 'This button means nothing any more.');
  assert.equal((await stage.press({ senderId: BOB })).words, 'You may not decide this.');
  assert.equal((await stage.press({})).words, 'Approved');
});
