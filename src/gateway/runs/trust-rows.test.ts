import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConversationFile } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { Surroundings } from '../../agent/prefix/surroundings.ts';
import { DAEMON } from '../sharing/perception.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { readTrust } from './trust-rows.ts';

/** A project whose folder nobody trusts, with instructions and a command. */
function project() {
  const file = { path: '/shop/AGENTS.md', text: 'Be brief.', digest: '1' };
  const day = { date: '2026-11-23' };
  const isTrusted = (agreed: readonly string[]) => agreed.includes('/shop');
  const surroundings: Surroundings = {
    async look(_workdir, agreed) {
      const instructions = isTrusted(agreed) ? { files: [file], untrusted: [] } : { files: [], untrusted: [file] };
      return { ...day, zone: 'UTC', instructions };
    },
  };
  const command = { name: 'review', summary: 'Review', text: 'Review it.' };
  const list = async (_workdir: string, agreed: readonly string[]) => (isTrusted(agreed) ? [command] : []);
  return {
    day,
    options: { surroundings, projectCommands: { list, others: async () => ({ waiting: [], odd: [] }) } },
  };
}

test('the question about instructions survives a crash, and its answer counts for the conversation', async () => {
  await using gateway = await wholeGateway(project().options);
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.reaches(wsId, 'approve_request');
  await gateway.crash();
  const { approvals } = await gateway.call('approval.list', {});
  assert.deepEqual(
    approvals.map(({ kind, items }) => [kind, items.map(({ preview }) => preview)]),
    [['instructions', ['Be brief.']]],
  );
  await gateway.call('workstream.approve', { wsId, approved: true });
  await gateway.isIdle(wsId);
  await (await gateway.accept('and?'))?.ended;
  assert.equal(gateway.puppet.requests.length, 2);
  assert.match(gateway.puppet.requests[0]?.system ?? '', /Be brief\./);
  const { commands } = await gateway.call('workstream.commands', { wsId });
  assert.deepEqual(commands, [{ name: 'review', summary: 'Review' }]);
  const { messages, notes } = await gateway.call('workstream.history', { wsId });
  assert.deepEqual(
    [messages.length, notes?.map((note) => note.kind === 'decision' && [note.question, note.approved])],
    [4, [['instructions', true]]],
  );
});

test('an answer counts for its own conversation only, and goes with it', async () => {
  await using gateway = await wholeGateway(project().options);
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: false });
  await gateway.isIdle(wsId);
  assert.deepEqual(await readTrust(gateway.store, wsId), { trusted: [], declined: ['/shop'] });
  const fork = await gateway.call('workstream.fork', { wsId });
  await gateway.call('workstream.send', { wsId: fork.wsId, message: 'hello' });
  await gateway.reaches(fork.wsId, 'approve_request');
  await gateway.call('sessions.delete', { key: wsId });
  assert.deepEqual(await readTrust(gateway.store, wsId), { trusted: [], declined: [] });
});

test('an exported conversation has no messages of the daemon to the model, and no decisions about instructions', async () => {
  const { day, options } = project();
  await using gateway = await wholeGateway(options);
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true });
  await gateway.isIdle(wsId);
  day.date = '2026-11-24';
  await (await gateway.accept('and?'))?.ended;
  const { json } = await gateway.gateway.exports.open(wsId, DAEMON);
  let text = '';
  for await (const piece of json()) text += piece;
  assert.doesNotMatch(text, /environment|instructions/);
  const { messages } = ConversationFile.parse(JSON.parse(text));
  assert.deepEqual(
    messages.map((message) => (message.role === 'tool' ? 'tool' : `${message.role} ${message.content}`)),
    ['user hello', 'assistant ok', 'user and?', 'assistant ok'],
  );
});
