import type { Approval } from '../../../protocol/methods/approval.ts';
import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import type { Owned } from '../sharing/perception.ts';

/** A question that waits, as notifications tell it. */
export interface WaitingQuestion {
  approval: Approval;
  /** As it is now, and not as it was when the question was asked. */
  of: Owned;
  /** The conversation, as people call it. */
  place: string;
}

/** What a notification says. */
export interface Notice {
  title: string;
  body?: string;
  /** The text is all that a person has to know to decide. */
  isWhole: boolean;
}

const TITLES: Readonly<Record<Approval['kind'], string>> = {
  tools: 'The agent asks before it acts',
  outcome: 'The agent asks what to do after a stop',
  instructions: 'The agent asks which instructions to follow',
  plan: 'A plan waits for you',
  budget: 'A budget is used up',
};

/** One message of Web Push holds 4096 bytes; a notification shows far less. */
const MOST_CHARS = 500;

/** The text for a content that is not `none`. What an agent wrote is only in `full`, with everything in it visible. */
export function toNotice({ approval, place }: WaitingQuestion, content: Exclude<NoticeContent, 'none'>): Notice {
  const asked = approval.items.filter(({ needs_approval: isAsked }) => isAsked);
  const isQuestion = asked.some(({ question }) => question !== undefined);
  const title = isQuestion ? 'The agent has a question' : TITLES[approval.kind];
  if (content === 'title') return { title, isWhole: false };
  const texts = asked.map(({ header, preview, question, plan }) =>
    [toVisibleLine(header), toVisibleText(question?.text ?? plan?.content ?? preview)].join('\n').trim(),
  );
  const whole = [toVisibleLine(place), ...texts].join('\n');
  const body = whole.length > MOST_CHARS ? `${whole.slice(0, MOST_CHARS)}…` : whole;
  const [only] = asked;
  const isPlain = approval.kind === 'tools' && asked.length === 1 && only?.not_sandboxed === undefined && !isQuestion;
  return { title, body, isWhole: isPlain && approval.items.length === 1 && body === whole };
}
