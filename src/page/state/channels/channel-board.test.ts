import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTimers, settled } from '../../../../protocol/client/testing/fake-timers.ts';
import type { ChannelRow, ChannelSender } from '../../../../protocol/methods/channels/channel.ts';
import { createFakeClient } from '../fake-client.ts';
import { ChannelBoard } from './channel-board.ts';

const ROW: ChannelRow = {
  ...{ channel: 'telegram', state: 'polling', sinceMs: 1 },
  ...{ backlog: 0, waiting: 0, pending: 0, blocked: 0 },
};
const sender = (senderId: string, more: Partial<ChannelSender> = {}): ChannelSender => ({
  ...{ channel: 'telegram', senderId, name: senderId, status: 'approved', blocked: 0, updatedAtMs: 1 },
  ...more,
});
const LISTING = { channels: [ROW], notifications: [] };
const ADA = { userId: 'u1', username: 'ada', displayName: 'Ada', disabled: false };

function opened({ mayManage = true } = {}) {
  const fake = createFakeClient();
  const timers = fakeTimers();
  fake.answer('channel.list', () => LISTING);
  fake.answer('channel.sender.list', () => ({
    senders: [sender('1'), sender('2', { status: 'pending' }), sender('3')],
  }));
  fake.answer('user.list', () => ({
    users: [ADA, { ...ADA, userId: 'u2', displayName: 'Bob', disabled: true }],
    total: 2,
  }));
  const board = new ChannelBoard({ client: fake.client, timers, mayManage: () => mayManage });
  const methods = () => fake.calls.map(([method]) => method);
  return { ...fake, timers, board, methods };
}

test('while the view is open, channels and people are read again and again, and not afterwards', async () => {
  const { board, timers, methods } = opened();
  const stop = board.follow();
  await settled();
  assert.deepEqual(board.listing.value, LISTING);
  assert.deepEqual(methods(), ['channel.list', 'channel.sender.list', 'user.list']);
  await timers.advance(5_000);
  await timers.advance(5_000);
  assert.equal(methods().filter((method) => method === 'channel.list').length, 3);
  assert.equal(methods().filter((method) => method === 'user.list').length, 1);
  stop();
  await timers.advance(60_000);
  assert.equal(methods().filter((method) => method === 'channel.list').length, 3);
});

test('a view that closes during a read does not read on', async () => {
  const { board, timers, methods } = opened();
  board.follow()();
  await timers.advance(60_000);
  assert.equal(methods().filter((method) => method === 'channel.list').length, 1);
});

test('those who wait for approval are listed first', async () => {
  const { board } = opened();
  await board.read();
  assert.deepEqual(
    board.senders.value?.map(({ senderId }) => senderId),
    ['2', '1', '3'],
  );
});

test('without the right, people and users are not asked for', async () => {
  const { board, methods } = opened({ mayManage: false });
  board.follow();
  await settled();
  assert.deepEqual([methods(), board.senders.value], [['channel.list'], undefined]);
});

test('an approved person is told until the next attempt; a refusal is returned, and the lists are read again', async () => {
  const { board, answer, calls, methods } = opened();
  const eve = { channel: 'telegram', senderId: '7', name: 'Eve' };
  answer('channel.pair', () => eve);
  assert.equal(await board.pair({ channel: 'telegram', code: 'ABCDE-23456', user: '' }), undefined);
  assert.deepEqual(board.paired.value, eve);
  assert.deepEqual(calls[0], ['channel.pair', { channel: 'telegram', code: 'ABCDE-23456' }]);
  answer('channel.pair', () => {
    throw new Error('Unknown code.');
  });
  assert.equal(await board.pair({ channel: 'telegram', code: 'x', user: 'ada' }), 'Unknown code.');
  assert.equal(board.paired.value, undefined);
  assert.deepEqual(calls.find(([, params]) => (params as { code?: string }).code === 'x')?.[1], {
    ...{ channel: 'telegram', code: 'x', user: 'ada' },
  });
  assert.equal(methods().filter((method) => method === 'channel.sender.list').length, 2);
});

for (const verb of ['revoke', 'restore'] as const)
  test(`${verb} names the person by number, and the list is read again`, async () => {
    const { board, answer, calls } = opened();
    answer('channel.revoke', () => ({ revoked: true }));
    answer('channel.restore', () => ({ restored: true }));
    assert.equal(await board[verb](sender('7')), undefined);
    assert.deepEqual(calls[0], [`channel.${verb}`, { channel: 'telegram', senderId: '7' }]);
    assert.deepEqual(calls.at(-1)?.[0], 'channel.sender.list');
  });

test('a test of the token ends in words', async () => {
  const { board, answer } = opened();
  answer('channel.test', () => ({ channel: 'telegram', account: '42', bot: 'headgate_bot' }));
  const good = { isGood: true, words: 'Telegram accepts the token of headgate_bot (42).' };
  assert.deepEqual(await board.test('telegram'), good);
  answer('channel.test', () => {
    throw new Error('Telegram does not accept this token.');
  });
  assert.deepEqual(await board.test('telegram'), { isGood: false, words: 'Telegram does not accept this token.' });
});

test('the owner of the conversations of a person is named, also a disabled one, who cannot be chosen', async () => {
  const { board } = opened();
  board.follow();
  await settled();
  const owners = [undefined, 'u1', 'u2', 'gone'].map((userId) => board.ownerOf({ userId }));
  assert.deepEqual(owners, ['the operator', 'Ada', 'Bob', 'gone']);
  assert.deepEqual(
    board.choices.value.map(({ userId }) => userId),
    ['u1'],
  );
});
