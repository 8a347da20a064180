import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ApprovalTable, RunTable } from '../../../src/gateway/store/schema/schema.ts';
import type { WorkstreamOnDisk } from '../evidence.ts';
import { createRandom } from '../random.ts';
import { CHAT_DEFECTS } from './chat-defects.ts';
import { type ChatEvidence, NOTICE, partText } from './chat-evidence.ts';
import { CHAT_RULES, checkChats } from './chat-rules.ts';

const SEEDS = [1, 2, 3, 4, 5];

/** Three messages in each of two chats. The first answer may not have arrived, and the second one says so. */
function story(): ChatEvidence {
  const evidence: ChatEvidence = {
    disk: { epoch: 'e', workstreams: [], usage: [], grants: [], memories: [] },
    ...{ policy: 'once', previews: [], presses: [], approvers: ['11'], operator: [] },
    ...{ said: [], shown: [], inbox: [], chats: [], outbox: [], chunks: [], listed: [], mostPolls: 1 },
  };
  for (const chat of ['11', '12']) {
    evidence.chats.push({ chat, ws_id: `ws_${chat}`, owes_notice: 0 });
    evidence.disk.workstreams.push(emptyWorkstream(`ws_${chat}`));
    for (const part of [1, 2, 3]) answer(evidence, { chat, number: part, isLost: chat === '11' && part === 1 });
  }
  ask(evidence);
  return evidence;
}

const emptyWorkstream = (wsId: string): WorkstreamOnDisk => ({
  ...{ wsId, name: wsId, messageCount: 0, runEpoch: 0, events: [], eventRows: 0, messages: [], runs: [] },
  ...{ approvals: [], cuts: [], agents: [], watches: [] },
});

/** Somebody writes; the answer has as many parts as the number says. */
function answer(
  evidence: ChatEvidence,
  { chat, number: parts, isLost }: { chat: string; number: number; isLost: boolean },
): void {
  const { said, inbox, outbox, disk, chats } = evidence;
  const tag = `t${said.length + 1}`;
  const updateId = `${1_000 + said.length}`;
  const runId = `run_${tag}`;
  said.push({ chat, updateId, tag, parts, asks: false });
  inbox.push({ update_id: updateId, chat, state: 'accepted', run_id: runId });
  const workstream = disk.workstreams.at(-1);
  const run = { run_id: runId, ws_id: `ws_${chat}`, status: 'ok', source: 'person' } as RunTable;
  workstream?.runs.push({ run, journal: [] });
  const message = { role: 'user' as const, content: `look at ${tag}` };
  workstream?.messages.push({ seq: workstream.messages.length + 1, runId, message });
  const texts = Array.from({ length: parts }, (_, index) => partText(tag, index + 1));
  const outgoing = { destination: chat, ws_id: chats.at(-1)?.ws_id ?? null, message: texts.join('\n\n') };
  outbox.push({ message_id: `answer:${runId}`, ...outgoing, status: isLost ? 'dead' : 'delivered' });
  const isTold = chat === '11' && parts === 2;
  for (const text of [...(isTold ? [`${NOTICE} Ask me.`] : []), ...texts])
    send(evidence, { chat, messageId: `answer:${runId}`, text, isLost });
}

/** The last run of the first chat has asked; its approver pressed twice, and somebody else once. */
function ask(evidence: ChatEvidence): void {
  const [first] = evidence.disk.workstreams;
  const id = 'appr_1';
  const by = { kind: 'principal' as const, id: 'telegram:11' };
  const decision = { approved: true, feedback: '', always: false, by };
  const decided = { kind: 'approval_decided' as const, approvalId: id, decision, atMs: 1 };
  first?.runs.at(-1)?.journal.push(decided);
  first?.approvals.push({ approval_id: id, status: 'approved' } as ApprovalTable);
  const told = { type: 'approval_resolved', approval_id: id, approved: true } as StreamEvent;
  first?.events.push({ offset: 1, event: told });
  const outgoing = { destination: '11', ws_id: 'ws_11', status: 'delivered' as const };
  const question = '❓ May I do this? echo t3 | tee t3.txt';
  evidence.outbox.push(
    { message_id: `approval:${id}`, ...outgoing, message: question },
    { message_id: `decided:${id}`, ...outgoing, message: 'Approved' },
  );
  send(evidence, { chat: '11', messageId: `approval:${id}`, text: question, isLost: false });
  for (const [updateId, presser, state] of [
    ['2001', '11', 'answered'],
    ['2002', '11', 'answered'],
    ['2003', '12', 'blocked'],
  ] as const) {
    evidence.presses.push({ updateId, by: presser, data: `approve ${id}` });
    evidence.inbox.push({ update_id: updateId, chat: '11', state, run_id: null });
  }
}

/** A part arrives. Whether it did, nobody knows of a lost one. */
function send(
  { shown, chunks, listed }: ChatEvidence,
  { chat, messageId, text, isLost }: { chat: string; messageId: string; text: string; isLost: boolean },
): void {
  const id = String(shown.length + 1);
  const part = chunks.filter(({ message_id: of }) => of === messageId).length;
  const state = isLost ? ('ambiguous' as const) : ('accepted' as const);
  shown.push({ chat, messageId: id, text });
  chunks.push({ message_id: messageId, chunk: part, destination: chat, state, provider_id: isLost ? null : id });
  listed.push({ messageId, part, state, ...(isLost && { reason: 'the daemon was stopped' }) });
}

test('correct evidence about chats has no findings', () => {
  assert.deepEqual(checkChats(story()), []);
});

for (const { name, rule, apply } of CHAT_DEFECTS) {
  test(`${name}: found by the rule "${rule}"`, () => {
    for (const seed of SEEDS) {
      const evidence = story();
      apply(evidence, createRandom(seed));
      const found = [...new Set(checkChats(evidence).map((violation) => violation.rule))].join(', ');
      assert.ok([...CHAT_RULES[rule](evidence)].length > 0, `seed ${seed}: found only ${found || 'nothing'}`);
    }
  });
}

test('every rule about chats finds at least one defect', () => {
  const found = new Set<string>(CHAT_DEFECTS.map(({ rule }) => rule));
  assert.deepEqual(
    Object.keys(CHAT_RULES).filter((rule) => !found.has(rule)),
    [],
  );
});
