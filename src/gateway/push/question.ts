import type { Approval } from '../../../protocol/methods/approval.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import { mayDecide } from '../rights.ts';
import { ANYONE, mayPerceive, type Owned } from '../sharing/perception.ts';
import { cutText, type Matter, type Notice, type Told } from './matter.ts';

/** A question that waits, as notifications tell it. */
export interface WaitingQuestion {
  approval: Approval;
  /** As it is now, and not as it was when the question was asked. */
  of: Owned;
  /** The conversation, as people call it. */
  place: string;
}

/** What is private to a user is nothing for the targets of the configuration. */
const isForOperator = (of: Owned): boolean => of.ownerId === '' || mayPerceive(ANYONE, of);

/** A question as a matter of notifications. Its end is told to the notifier, so it waits until then. */
export const toMatter = (question: WaitingQuestion): Matter => {
  const { approval, of } = question;
  const { approvalId, wsId, kind, expiresAtMs } = approval;
  return {
    id: approvalId,
    wsId,
    expiresAtMs,
    named: { type: 'question', id: { approvalId }, about: { wsId, kind } },
    notice: (content) => toNotice(question, content),
    waits: async () => true,
    isFor: async (standing) => mayDecide(standing) && mayPerceive(standing, of),
    isForOperator: async () => isForOperator(of),
  };
};

const TITLES: Readonly<Record<Approval['kind'], string>> = {
  tools: 'The agent asks before it acts',
  outcome: 'The agent asks what to do after a stop',
  instructions: 'The agent asks which instructions to follow',
  plan: 'A plan waits for you',
  budget: 'A budget is used up',
};

/** The text for a content that is not `none`. What an agent wrote is only in `full`, with everything in it visible. */
function toNotice({ approval, place }: WaitingQuestion, content: Told): Notice {
  const asked = approval.items.filter(({ needs_approval: isAsked }) => isAsked);
  const isQuestion = asked.some(({ question }) => question !== undefined);
  const title = isQuestion ? 'The agent has a question' : TITLES[approval.kind];
  if (content === 'title') return { title, isWhole: false };
  const texts = asked.map(({ header, preview, question, plan }) =>
    [toVisibleLine(header), toVisibleText(question?.text ?? plan?.content ?? preview)].join('\n').trim(),
  );
  const whole = [toVisibleLine(place), ...texts].join('\n');
  const body = cutText(whole);
  const [only] = asked;
  const isPlain = approval.kind === 'tools' && asked.length === 1 && only?.not_sandboxed === undefined && !isQuestion;
  return { title, body, isWhole: isPlain && approval.items.length === 1 && body === whole };
}
