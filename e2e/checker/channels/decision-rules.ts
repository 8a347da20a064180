import type { Decision } from '../../../src/agent/run/journal.ts';
import type { Finding } from '../evidence.ts';
import type { ChatEvidence } from './chat-evidence.ts';

/** Every question, the decisions that its run read, and what clients were told of them. */
function* questionsIn({ disk }: ChatEvidence) {
  for (const { wsId, approvals, runs, events } of disk.workstreams) {
    const journal = runs.flatMap((run) => run.journal);
    for (const { approval_id: id, status } of approvals) {
      const read = journal.flatMap((entry) =>
        entry.kind === 'approval_decided' && entry.approvalId === id ? [entry.decision] : [],
      );
      const told = events.filter(({ event }) => event.type === 'approval_resolved' && event.approval_id === id);
      yield { id, wsId, status, read, told: told.length };
    }
  }
}

export function* decidedOnce(evidence: ChatEvidence): Generator<Finding> {
  for (const { id, wsId: where, status, read, told } of questionsIn(evidence)) {
    if (read.length !== 1 || told !== 1) {
      yield { what: `${id} is ${status}: ${read.length} decisions, of which clients were told ${told}`, where };
      continue;
    }
    const decided = status === 'approved';
    if (read[0]?.approved !== decided) yield { what: `${id} is ${status}, and its run read otherwise`, where };
    const chat = evidence.chats.find((row) => row.ws_id === where)?.chat;
    const asked = evidence.outbox.filter(({ message_id: messageId }) => messageId === `approval:${id}`);
    if (asked.length !== 1 || asked[0]?.destination !== chat)
      yield { what: `${asked.map(({ destination }) => destination).join() || 'no chat'} was asked ${id}`, where };
    const messages = evidence.outbox.filter(({ message_id: messageId }) => messageId === `decided:${id}`);
    if (messages.length !== 1) yield { what: `the chat is told ${messages.length} decisions about ${id}`, where };
  }
}

export function* decidedByApprovers(evidence: ChatEvidence): Generator<Finding> {
  for (const { id, wsId: where, read } of questionsIn(evidence))
    for (const decision of read) for (const what of problemsOf(decision, id, evidence)) yield { what, where };
}

function problemsOf({ by, approved }: Decision, id: string, { presses, approvers, operator }: ChatEvidence): string[] {
  if (by.kind !== 'principal') return [`${id} was decided by ${by.kind}`];
  if (!by.id.startsWith('telegram:')) return operator.includes(id) ? [] : [`${by.id} decided ${id}, and should not`];
  const person = by.id.slice('telegram:'.length);
  const data = `${approved ? 'approve' : 'deny'} ${id}`;
  const hasPressed = presses.some((press) => press.by === person && press.data === data);
  return [
    ...(approvers.includes(person) ? [] : [`${id} was decided by ${person}, who is no approver`]),
    ...(hasPressed ? [] : [`${person} decided about ${id} and did not press "${data}"`]),
  ];
}

export function* pressedOnce({ presses, approvers, inbox }: ChatEvidence): Generator<Finding> {
  for (const { updateId, by: where, data } of presses) {
    const states = inbox.filter((row) => row.update_id === updateId).map(({ state }) => state);
    const mayBe = approvers.includes(where) ? ['answered', 'blocked'] : ['blocked'];
    const isWrong = states.length !== 1 || !mayBe.includes(states[0] ?? '');
    if (isWrong) yield { what: `the press of "${data}" is stored as ${states.join() || 'nothing'}`, where };
  }
}
