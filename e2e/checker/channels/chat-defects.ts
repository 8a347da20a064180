import type { Random } from '../random.ts';
import type { ChatEvidence } from './chat-evidence.ts';
import type { ChatRuleName } from './chat-rules.ts';

/** A defect in correct evidence, and the rule that must find it. */
export interface ChatDefect {
  name: string;
  rule: ChatRuleName;
  /** Changes the evidence in place. */
  apply(evidence: ChatEvidence, random: Random): void;
}

const remove = <T>(list: T[], one: T): void => {
  list.splice(list.indexOf(one), 1);
};

/** Swaps two neighbours of a list, of which both fit. */
function swapNeighbours<T>(list: T[], fits: (one: T, next: T) => boolean, random: Random): void {
  const places = list.flatMap((one, index) => {
    const next = list[index + 1];
    return next !== undefined && fits(one, next) ? [index] : [];
  });
  const at = random.pick(places);
  list.splice(at, 2, ...list.slice(at, at + 2).reverse());
}

/** The conversation of a message of a person, and the place of the message in it. */
function pickHeard({ disk }: ChatEvidence, random: Random) {
  const all = disk.workstreams.flatMap((workstream) =>
    workstream.messages.filter(({ message }) => message.role === 'user').map((stored) => ({ workstream, stored })),
  );
  return random.pick(all);
}

const messagesIn = (inbox: ChatEvidence['inbox']) => inbox.filter(({ run_id: id }) => id !== null);

const answersIn = (outbox: ChatEvidence['outbox']) => outbox.filter(({ message_id: id }) => id.startsWith('answer:'));

const accepted = ({ chunks }: ChatEvidence) => chunks.filter(({ state }) => state === 'accepted');

export const CHAT_DEFECTS: ChatDefect[] = [
  {
    name: 'an update is acknowledged and was never stored',
    rule: 'a message of a person is stored once',
    apply: ({ inbox }, random) => remove(inbox, random.pick(messagesIn(inbox))),
  },
  {
    name: 'an update that comes twice is stored twice',
    rule: 'a message of a person is stored once',
    apply: ({ inbox }, random) => void inbox.push({ ...random.pick(messagesIn(inbox)) }),
  },
  {
    name: 'a message is given up',
    rule: 'a message of a person is stored once',
    apply(evidence, random) {
      random.pick(messagesIn(evidence.inbox)).state = 'failed';
    },
  },
  {
    name: 'an update is accepted, and its message is lost',
    rule: 'a message of a person is in its conversation once',
    apply(evidence, random) {
      const { workstream, stored } = pickHeard(evidence, random);
      remove(workstream.messages, stored);
    },
  },
  {
    name: 'a message is read again after a crash',
    rule: 'a message of a person is in its conversation once',
    apply(evidence, random) {
      const { workstream, stored } = pickHeard(evidence, random);
      workstream.messages.push({ ...stored, seq: workstream.messages.length + 1 });
    },
  },
  {
    name: 'a message comes into the conversation of another chat',
    rule: 'a message of a person is in its conversation once',
    apply(evidence, random) {
      const { workstream, stored } = pickHeard(evidence, random);
      remove(workstream.messages, stored);
      random.pick(evidence.disk.workstreams.filter((other) => other !== workstream)).messages.push(stored);
    },
  },
  {
    name: 'a message starts two runs',
    rule: 'a message of a person starts one run',
    apply({ disk }, random) {
      const { runs } = random.pick(disk.workstreams);
      const [first] = runs;
      if (first) runs.push({ ...first, run: { ...first.run, run_id: 'run_again' } });
    },
  },
  {
    name: 'a run is lost with the daemon',
    rule: 'a message of a person starts one run',
    apply({ disk }, random) {
      const { runs } = random.pick(disk.workstreams);
      if (runs[0]) runs[0].run.status = 'cancelled';
    },
  },
  {
    name: 'two messages of a chat change places',
    rule: 'messages of a chat keep their order',
    apply: ({ said }, random) => swapNeighbours(said, (one, next) => one.chat === next.chat, random),
  },
  {
    name: 'a run ends, and its answer is not queued',
    rule: 'an answer is queued once',
    apply: ({ outbox }, random) => remove(outbox, random.pick(answersIn(outbox))),
  },
  {
    name: 'an answer goes to another chat',
    rule: 'an answer is queued once',
    apply({ outbox }, random) {
      random.pick(answersIn(outbox)).destination = '999';
    },
  },
  {
    name: 'a bad part drops those after it',
    rule: 'an answer has all its parts',
    apply: ({ chunks }, random) => remove(chunks, random.pick(chunks.filter(({ chunk }) => chunk > 1))),
  },
  {
    name: 'a part counts as sent without an id',
    rule: 'what counts as sent has an id and is there',
    apply(evidence, random) {
      random.pick(accepted(evidence)).provider_id = null;
    },
  },
  {
    name: 'a part counts as sent and is not there',
    rule: 'what counts as sent has an id and is there',
    apply({ shown }, random) {
      remove(shown, random.pick(shown.slice(1))); // the first one counts as ambiguous
    },
  },
  {
    name: 'two parts get the id of one message',
    rule: 'what counts as sent has an id and is there',
    apply(evidence, random) {
      const part = random.pick(accepted(evidence));
      evidence.chunks.push({ ...part, chunk: part.chunk + 1 });
    },
  },
  {
    name: 'something arrives that nobody recorded',
    rule: 'nothing is there that was not recorded',
    apply: ({ shown }, random) => void shown.push({ ...random.pick(shown), messageId: '999', text: 'Hello again.' }),
  },
  {
    name: 'a part that may have arrived is sent again after a crash',
    rule: 'nothing is there twice',
    apply({ shown }) {
      const [first] = shown;
      if (first) shown.push({ ...first, messageId: '999' });
    },
  },
  {
    name: 'the parts of an answer overtake one another',
    rule: 'parts arrive in their order',
    apply({ shown }, random) {
      const isAnswer = ({ text }: { text: string }) => text.startsWith('Answer');
      const [lost, ...rest] = shown;
      swapNeighbours(rest, (one, next) => isAnswer(one) && isAnswer(next) && one.chat === next.chat, random);
      shown.splice(0, shown.length, ...(lost ? [lost] : []), ...rest);
    },
  },
  {
    name: 'a part that may not have arrived is hidden',
    rule: 'what may not have arrived is listed with its reason',
    apply: ({ listed }) => {
      const lost = listed.find(({ state }) => state === 'ambiguous');
      if (lost) remove(listed, lost);
    },
  },
  {
    name: 'a part that may not have arrived is shown as sent',
    rule: 'what may not have arrived is listed with its reason',
    apply({ listed }) {
      const lost = listed.find(({ state }) => state === 'ambiguous');
      if (lost) lost.state = 'accepted';
    },
  },
  {
    name: 'the chat is not told of what may not have arrived',
    rule: 'the chat is told of what may not have arrived',
    apply({ shown }) {
      const notice = shown.find(({ text }) => text.startsWith('⚠'));
      if (notice) remove(shown, notice);
    },
  },
  {
    name: 'an update waits for ever',
    rule: 'nothing waits at rest',
    apply({ inbox }, random) {
      random.pick(inbox).state = 'waiting';
    },
  },
  {
    name: 'a part stays on its way',
    rule: 'nothing waits at rest',
    apply(evidence, random) {
      random.pick(evidence.chunks).state = 'sending';
    },
  },
  {
    name: 'an answer is never sent',
    rule: 'nothing waits at rest',
    apply({ outbox }, random) {
      random.pick(outbox).status = 'pending';
    },
  },
  {
    name: 'a second press decides again',
    rule: 'a question is decided once',
    apply({ disk }) {
      const run = disk.workstreams.flatMap(({ runs }) => runs).find(({ journal }) => journal.length > 0);
      const [first] = run?.journal ?? [];
      if (first) run?.journal.push({ ...first });
    },
  },
  {
    name: 'the chat is told of two decisions',
    rule: 'a question is decided once',
    apply({ outbox }) {
      const told = outbox.find(({ message_id: id }) => id.startsWith('decided:'));
      if (told) outbox.push({ ...told });
    },
  },
  {
    name: 'another chat is asked',
    rule: 'a question is decided once',
    apply({ outbox }) {
      const asked = outbox.find(({ message_id: id }) => id.startsWith('approval:'));
      if (asked) asked.destination = '12';
    },
  },
  {
    name: 'somebody who is no approver decides',
    rule: 'only approvers decide',
    apply(evidence) {
      evidence.approvers = [];
    },
  },
  {
    name: 'a question is decided otherwise than the approver pressed',
    rule: 'only approvers decide',
    apply({ presses }) {
      for (const press of presses) press.data = press.data.replace('approve', 'deny');
    },
  },
  {
    name: 'the press of somebody who is no approver counts',
    rule: 'a press is handled once, and blocked unless an approver pressed',
    apply({ inbox }) {
      const blocked = inbox.find(({ state }) => state === 'blocked');
      if (blocked) blocked.state = 'answered';
    },
  },
  {
    name: 'a question is never decided',
    rule: 'nothing waits at rest',
    apply({ disk }) {
      for (const approval of disk.workstreams.flatMap(({ approvals }) => approvals)) approval.status = 'pending';
    },
  },
  {
    name: 'an answer in progress stays beside its answer, and nobody recorded it',
    rule: 'nothing is there twice',
    apply({ shown }, random) {
      const answers = shown.filter(({ text }) => text.startsWith('Answer'));
      shown.push({ ...random.pick(answers), messageId: '999' });
    },
  },
  {
    name: 'with the policy retry, a part that may have arrived is not sent again',
    rule: 'what may not have arrived is listed with its reason',
    apply(evidence) {
      evidence.policy = 'retry';
    },
  },
  {
    name: 'a new daemon polls while the old request is open',
    rule: 'one poll at a time',
    apply(evidence) {
      evidence.mostPolls = 2;
    },
  },
];
