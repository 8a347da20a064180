import type { Person } from '../../support/channels/telegram/person.ts';
import type { AttackStage } from './attack-stage.ts';

/** Two questions: one in the chat of Ada, one in the group. */
export interface Questions {
  direct: Question;
  group: Question;
}

interface Question {
  approvalId: string;
  messageId: number;
}

/** Somebody presses something. */
export interface PressAttempt {
  name: string;
  press(
    stage: AttackStage,
    questions: Questions,
  ): { by: Person; data: string | undefined; message: object | undefined };
}

type Press = (by: Person, data: string | undefined) => ReturnType<PressAttempt['press']>;

/** Presses below the question in the group, or in Ada's chat. */
const inGroup =
  ({ group }: AttackStage, { group: { messageId } }: Questions): Press =>
  (by, data) => ({
    ...{ by, data },
    message: group.messages.get(messageId),
  });
const inDirect =
  ({ people }: AttackStage, { direct: { messageId } }: Questions): Press =>
  (by, data) => ({
    ...{ by, data },
    message: people.ada.chat.messages.get(messageId),
  });

const byPerson = (name: string, who: keyof AttackStage['people']): PressAttempt[] => [
  {
    name: `${name} presses in the group`,
    press: (stage, questions) => inGroup(stage, questions)(stage.people[who], `approve ${questions.group.approvalId}`),
  },
  {
    name: `${name} presses in a direct chat with the question of the group`,
    press: ({ people }, { group }) => ({
      by: people[who],
      data: `approve ${group.approvalId}`,
      message: { message_id: group.messageId, date: 1, chat: people[who].chat.chat, text: 'May I do this?' },
    }),
  },
];

/** Data that resemble those of the button; `id` is the question's. */
const FORGED: [string, (id: string) => string | undefined][] = [
  ['no data', () => undefined],
  ['empty data', () => ''],
  ['only the action', () => 'approve'],
  ['the action and a space', () => 'approve '],
  ['only the id', (id) => id],
  ['an action in capitals', (id) => `APPROVE ${id}`],
  ['another action', (id) => `allow ${id}`],
  ['two actions', (id) => `approve approve ${id}`],
  ['two spaces', (id) => `approve  ${id}`],
  ['a space that does not break', (id) => `approve\u00a0${id}`],
  ['a space before', (id) => ` approve ${id}`],
  ['a newline after', (id) => `approve ${id}\n`],
  ['a second line', (id) => `x\napprove ${id}`],
  ['more words', (id) => `approve ${id} always`],
  ['an option', (id) => `approve ${id}?always=1`],
  ['a path', (id) => `approve ../${id}`],
  ['JSON', (id) => JSON.stringify({ approved: true, approvalId: id })],
  ['an id in capitals', (id) => `approve ${id.toUpperCase()}x`],
  ['an id that continues', (id) => `approve ${id}0`],
  ['an id that is cut', (id) => `approve ${id.slice(0, -1)}`],
  ['a pattern', () => 'approve %'],
  ['an unknown id', () => 'approve apr_unknown'],
  ['a zero byte', (id) => `approve ${id}\u0000`],
  ['64 bytes', (id) => `approve ${id}`.padEnd(64, 'x')],
  ['a million characters', (id) => `approve ${id}${'x'.repeat(1_000_000)}`],
];

/** None of these decides, nor says anything to the model. Both questions are open. */
export const PRESS_ATTEMPTS: PressAttempt[] = [
  ...byPerson('a stranger', 'eve'),
  ...byPerson('a person who may write, but not decide,', 'bob'),
  ...byPerson('a person who may decide, but not write,', 'max'),
  ...byPerson('a person who may write in direct chats only', 'dan'),
  ...byPerson('a revoked person who could decide', 'rex'),
  ...FORGED.map(([name, dataOf]) => ({
    name: `the approver presses with ${name}`,
    press: (stage: AttackStage, questions: Questions) =>
      inDirect(stage, questions)(stage.people.ada, dataOf(questions.direct.approvalId)),
  })),
  {
    name: 'the approver presses the question of another chat',
    press: (stage, questions) => inDirect(stage, questions)(stage.people.ada, `approve ${questions.group.approvalId}`),
  },
  {
    name: 'the approver presses below a message of a person',
    press: ({ people: { ada } }, { direct }) => ({
      by: ada,
      data: `approve ${direct.approvalId}`,
      message: ada.chat.messages.get(1),
    }),
  },
  {
    name: 'the approver presses below a message that is gone',
    press: ({ people: { ada } }, { direct }) => ({
      by: ada,
      data: `approve ${direct.approvalId}`,
      message: { message_id: direct.messageId + 1, date: 0, chat: ada.chat.chat },
    }),
  },
  {
    name: 'the approver presses without a message',
    press: ({ people: { ada } }, { direct }) => ({
      ...{ by: ada, data: `approve ${direct.approvalId}` },
      message: undefined,
    }),
  },
  {
    name: 'the approver presses in a group with the number of the question',
    press: ({ people: { ada }, telegram }, { direct }) => ({
      by: ada,
      data: `approve ${direct.approvalId}`,
      message: { message_id: direct.messageId, date: 1, chat: telegram.group().chat },
    }),
  },
];
