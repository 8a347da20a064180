import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
} from '@agentclientprotocol/sdk';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { AskedQuestion } from '../../../../protocol/events/questions/asked-question.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

/** A form without its session. */
export type FormRequest = Pick<Extract<CreateElicitationRequest, { mode: 'form' }>, 'message' | 'requestedSchema'> & {
  toolCallId: string;
};

type Asked = ApprovalItem & { question: AskedQuestion };

type Answer =
  | { approved: true; answer: string }
  | { approved: true; choice: string }
  | { approved: false; feedback: string };

/** Asks a question of the agent in a form: one of its choices, or any text. */
export async function askInForm(
  { call_id, question }: Asked,
  fill: (request: FormRequest) => Promise<CreateElicitationResponse>,
): Promise<Answer> {
  const { choices, text } = question;
  const properties: Record<string, ElicitationPropertySchema> = {
    ...(choices.length > 0 && {
      choice: {
        type: 'string',
        title: 'Choice',
        oneOf: choices.map(({ label, description }) => ({
          const: label,
          title: toSafeText(label),
          ...(description !== undefined && { description: toSafeText(description) }),
        })),
      },
    }),
    answer: {
      type: 'string',
      title: choices.length > 0 ? 'Or another answer' : 'Answer',
      maxLength: LIMITS.answerChars,
    },
  };
  const response = await fill({
    message: toSafeText(text),
    toolCallId: call_id,
    requestedSchema: { type: 'object', properties, ...(choices.length === 0 && { required: ['answer'] }) },
  });
  return toAnswer(response, question);
}

/** As `approval.resolve` takes it. */
const MOST_FEEDBACK_CHARS = 16_384;

/** What to change in a plan; undefined without a text. */
export async function askForChanges(
  { call_id, plan }: Pick<ApprovalItem, 'call_id' | 'plan'>,
  fill: (request: FormRequest) => Promise<CreateElicitationResponse>,
): Promise<string | undefined> {
  const left = plan?.revisions_left ?? 0;
  const response = await fill({
    message: `What should be different in the plan? It can be revised ${left === 1 ? 'once more' : `${left} more times`}.`,
    toolCallId: call_id,
    requestedSchema: {
      type: 'object',
      properties: { changes: { type: 'string', title: 'Changes', maxLength: MOST_FEEDBACK_CHARS } },
      required: ['changes'],
    },
  });
  const text = response.action === 'accept' ? textIn(response.content, 'changes') : '';
  return text === '' ? undefined : text.slice(0, MOST_FEEDBACK_CHARS);
}

function textIn(content: unknown, name: string): string {
  const value: unknown = typeof content === 'object' && content !== null ? Reflect.get(content, name) : undefined;
  return typeof value === 'string' ? value.trim() : '';
}

function toAnswer(response: CreateElicitationResponse, { choices }: AskedQuestion): Answer {
  if (response.action !== 'accept') return { approved: false, feedback: 'The person did not answer this question.' };
  const textOf = (name: string): string => textIn(response.content, name);
  const written = textOf('answer').slice(0, LIMITS.answerChars);
  if (written !== '') return { approved: true, answer: written };
  const choice = choices.find(({ label }) => label === textOf('choice'));
  return choice ? { approved: true, choice: choice.label } : { approved: true, answer: '' };
}
